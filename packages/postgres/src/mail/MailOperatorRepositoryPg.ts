import {
  LOOK_UP_AGAIN_SECONDS,
  MailOperatorRepository,
  OPERATOR_MAX_AGE_SECONDS,
} from "@outreach/domain/mail/MailOperatorRepository"
import { Schema } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn } from "../rowsOf.ts"

const decodeDomains = decodeColumn({ domain: Schema.String })

export const MailOperatorRepositoryPg = adapter(MailOperatorRepository, (sql) => ({
  need: (domains) =>
    sql`
          insert into mail_operators as known (domain) select domain from unnest(${[...domains].sort()}::text[]) as domain
          on conflict (domain) do update set needed_at = excluded.needed_at
            where known.needed_at < excluded.needed_at - interval '1 day'`,

  // What has not been needed for longer than an operator is believed is looked up when it is needed again.
  take: (limit) =>
    sql`
          with due as materialized (
            select domain from mail_operators
            where look_up_at <= clock_timestamp()
              and needed_at > clock_timestamp() - 2 * make_interval(secs => ${OPERATOR_MAX_AGE_SECONDS}::int)
            order by look_up_at limit ${limit} for update skip locked
          )
          update mail_operators taken set look_up_at = clock_timestamp() + make_interval(secs => ${LOOK_UP_AGAIN_SECONDS}::int)
          from due where taken.domain = due.domain returning taken.domain`.pipe(decodeDomains),

  store: (found) =>
    sql`
          update mail_operators set operator = each.operator, looked_up_at = clock_timestamp(),
            look_up_at = clock_timestamp() + make_interval(secs => ${OPERATOR_MAX_AGE_SECONDS}::int)
          from unnest(${[...found.keys()]}::text[], ${[...found.values()]}::text[]) as each (domain, operator)
          where mail_operators.domain = each.domain`,

  forget: sql`delete from mail_operators where needed_at < plausible_now() - interval '30 days'`,
}))
