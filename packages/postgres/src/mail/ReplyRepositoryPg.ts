import { MAX_REPLIES_PER_DAY } from "@outreach/domain/mail/Reply"
import { ReplyRepository } from "@outreach/domain/mail/ReplyRepository"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { forgetRows } from "../forgetRows.ts"
import { decodeValue } from "../rowsOf.ts"

const FORGET_BATCH_SIZE = 1000

const decodeResult = decodeValue({ result: Schema.Literals(["kept", "dropped", "repeated"]) })

export const ReplyRepositoryPg = adapter(ReplyRepository, (sql) => ({
  keep: ({ organizationId, recipientId }, { subject, text }) =>
    sql`
        with found as materialized (
          select coalesce(max(number), 0) as last, coalesce(bool_or(subject = ${subject} and text = ${text}), false) as is_repeated,
            count(*) filter (where received_at > clock_timestamp() - interval '1 day') as of_recipient
          from replies where organization_id = ${organizationId} and recipient_id = ${recipientId}
        ), day as materialized (
          select count(*) as of_organization from (
            select from replies where organization_id = ${organizationId} and received_at > clock_timestamp() - interval '1 day'
            limit ${MAX_REPLIES_PER_DAY.organization}::int
          ) reply
        ), judged as materialized (
          select last, case when is_repeated then 'repeated'
            when of_recipient >= ${MAX_REPLIES_PER_DAY.recipient}::int or of_organization >= ${MAX_REPLIES_PER_DAY.organization}::int
              then 'dropped' else 'kept' end as result
          from found cross join day
        ), kept as (
          insert into replies (organization_id, recipient_id, number, subject, text)
          select ${organizationId}, ${recipientId}, last + 1, ${subject}, ${text} from judged where result = 'kept'
        )
        select result from judged`.pipe(decodeResult),

  markDone: (organizationId, recipientId) =>
    sql`
        update replies set done_at = clock_timestamp()
        where organization_id = ${organizationId} and recipient_id = ${recipientId} and done_at is null
        returning 1`.pipe(Effect.map((rows) => rows.length)),

  forget: (days) =>
    forgetRows(sql, "replies", {
      key: ["organization_id", "recipient_id", "number"],
      where: sql`received_at < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(received_at)`,
      orderBy: "received_at",
      limit: FORGET_BATCH_SIZE,
    }),
}))
