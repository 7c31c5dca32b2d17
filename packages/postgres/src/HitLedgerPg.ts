import type { Deployment } from "@outreach/domain/Deployment"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { WaitingHit } from "@outreach/domain/outreach/Hit"
import { HitLedger } from "@outreach/domain/outreach/HitLedger"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"
import { stamp } from "./OrganizationClock.ts"
import { publishEvents } from "./publishEvents.ts"

/** The most hits that one statement forgets. */
const FORGOTTEN_TOGETHER = 5000

/** Keeps hits in PostgreSQL. */
export const HitLedgerPg = Layer.effect(
  HitLedger,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient | Deployment>()

    const waitingOf = (organizationId: OrganizationId, limit: number) => sql<WaitingHit>`
      select hit.organization_id as "organizationId", hit.id, hit.recipient_id as "recipientId", recipient.campaign_id as "campaignId",
        recipient.program_id as "programId", recipient.token, hit.link, hit.method, hit.address, hit.headers,
        hit.received_at as "receivedAt", extract(epoch from hit.received_at)::double precision * 1000 as at,
        extract(epoch from recipient.sent_at)::double precision * 1000 as "acceptedAt",
        coalesce((
          select jsonb_agg(jsonb_build_object('link', link, 'at', extract(epoch from received_at) * 1000))
          from (
            select link, received_at from hits earlier
            where earlier.organization_id = hit.organization_id and earlier.recipient_id = hit.recipient_id
              and earlier.received_at between hit.received_at - interval '2 seconds' and hit.received_at
              and earlier.kind = 'click' and earlier.id <> hit.id
            order by received_at desc limit 100
          ) latest
        ), '[]') as "earlierHits"
      from hits hit
      join recipients recipient on recipient.organization_id = hit.organization_id and recipient.id = hit.recipient_id
      where hit.organization_id = ${organizationId} and hit.judged_at is null
        and (recipient.sent_at is not null or hit.received_at < clock_timestamp() - interval '1 minute')
      order by hit.received_at, hit.id limit ${limit} for update of hit skip locked`

    return {
      record: Effect.fnUntraced(function* (hits) {
        // Read apart: an insert may wait for a lock before it looks at the clock.
        const [clock] = yield* sql<{ now: number }>`
            select extract(epoch from clock_timestamp())::double precision * 1000 as now`
        const ahead = clock!.now - (yield* Clock.currentTimeMillis)
        const column = (read: (hit: (typeof hits)[number]) => string) => hits.map(read)
        yield* sql`
            insert into hits (organization_id, id, recipient_id, kind, link, method, address, headers, received_at)
            select organization_id, id, recipient_id, case when link = '' then 'open' else 'click' end, nullif(link, ''), method,
              address, headers::jsonb, to_timestamp(received_at / 1000)
            from unnest(
              ${column(({ organizationId }) => organizationId)}::text[], ${column(({ id }) => id)}::text[],
              ${column(({ recipientId }) => recipientId)}::text[], ${column(({ link }) => link ?? "")}::text[],
              ${column(({ method }) => method)}::text[], ${column(({ address }) => address)}::text[],
              ${column(({ headers }) => JSON.stringify(headers))}::text[],
              ${hits.map(({ cameAt }) => cameAt + ahead)}::double precision[]
            ) as hit (organization_id, id, recipient_id, link, method, address, headers, received_at)
            where exists (
              select from recipients where recipients.organization_id = hit.organization_id and recipients.id = hit.recipient_id)
            on conflict (organization_id, id) do nothing`
      }, dieNaming("HitLedger.record")),

      waiting: sql<{ id: OrganizationId }>`
        select id from organizations
        where exists (select from hits where organization_id = organizations.id and judged_at is null)
        order by id`.pipe(
        Effect.map((rows) => rows.map(({ id }) => id)),
        dieNaming("HitLedger.waiting"),
      ),

      judge: (organizationId, limit, judge) =>
        Effect.gen(function* () {
          const hits = yield* waitingOf(organizationId, limit)
          if (hits.length === 0) return 0
          const judged = yield* judge(hits)
          const recipients = [...new Set(hits.map(({ recipientId }) => recipientId))]
          yield* sql`
            select from recipients where organization_id = ${organizationId} and id = any (${recipients}::text[])
            order by id for update`
          yield* sql`
            update hits set judged_at = clock_timestamp(), reasons = string_to_array(judged.reasons, ',')
            from unnest(
              ${hits.map(({ id }) => id)}::text[], ${judged.map(({ reasons }) => reasons.join())}::text[]
            ) as judged (id, reasons)
            where organization_id = ${organizationId} and hits.id = judged.id`
          const at = yield* stamp(organizationId)
          yield* sql`
            update recipients set updated_at = ${at}::timestamptz, last_event_at = ${at}::timestamptz
            where organization_id = ${organizationId} and id = any (${recipients}::text[])`
          yield* publishEvents(
            judged.map(({ event }) => event),
            at,
          )
          return hits.length
        }).pipe(sql.withTransaction, Effect.provideContext(context), dieNaming("HitLedger.judge")),

      forget: (days) =>
        sql`
          delete from hits using (
            select organization_id, id from hits
            where judged_at < clock_timestamp() - make_interval(days => ${days}) order by judged_at limit ${FORGOTTEN_TOGETHER}
          ) old
          where hits.organization_id = old.organization_id and hits.id = old.id
          returning 1`.pipe(
          Effect.map((rows) => rows.length),
          dieNaming("HitLedger.forget"),
        ),
    }
  }),
)
