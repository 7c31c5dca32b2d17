import { type InboundMessage, Inbox, type Receipt } from "@outreach/domain/inbox/Inbox"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "./batched.ts"
import { dieNaming } from "./DatabaseFailure.ts"

/** The most messages that one statement stores: together at most 32 MiB. */
const MOST_TOGETHER = 32
/** How many such statements are under way. */
const STORING_AT_ONCE = 2

/** Keeps what partners send in PostgreSQL. */
export const InboxPg = Layer.effect(
  Inbox,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // Messages that come together share a statement, and one that comes twice in it is stored once. In the order of the key, so that
    // the statements of several processes never wait for each other in a circle.
    const receive = yield* batched(
      MOST_TOGETHER,
      Effect.fnUntraced(function* (messages: ReadonlyArray<InboundMessage>) {
        const column = (read: (message: InboundMessage) => string) => messages.map(read)
        const rows = yield* sql<{ receipt: Receipt }>`
          with given as materialized (
            select *, first_value(body) over (partition by organization_id, event_id order by position) as first_body from unnest(
              ${column(({ organizationId }) => organizationId)}::text[], ${column(({ eventId }) => eventId)}::text[],
              ${column(({ endpointId }) => endpointId)}::text[], ${column(({ type }) => type)}::text[],
              ${column(({ npi }) => npi ?? "")}::text[], ${column(({ body }) => body)}::text[]
            ) with ordinality as given (organization_id, event_id, endpoint_id, type, npi, body, position)
          ), stored as (
            insert into inbox (organization_id, event_id, endpoint_id, type, npi, body, received_at, differing)
            select organization_id, event_id, endpoint_id, type, nullif(npi, ''), body, now + position * interval '1 microsecond', others
            from (
              select distinct on (organization_id, event_id) *,
                count(*) filter (where body <> first_body) over (partition by organization_id, event_id) as others
              from given order by organization_id, event_id, position
            ) first, (select clock_timestamp() as now offset 0) clock
            order by organization_id, event_id
            on conflict do nothing
            returning organization_id, event_id
          ), told as (
            select given.organization_id, given.event_id, position, case
              when stored.event_id is not null and position = min(position) over (partition by given.organization_id, given.event_id)
                then 'stored'
              when given.body = coalesce(before.body, first_body) then 'repeated'
              else 'differs' end as receipt
            from given
            left join stored using (organization_id, event_id)
            left join inbox before using (organization_id, event_id)
          ), noted as (
            -- Of what is stored by this very statement, which counts them as it stores, nothing is found here.
            update inbox set differing = differing + times
            from (
              select organization_id, event_id, count(*)::int as times from told where receipt = 'differs'
              group by organization_id, event_id
            ) differing_now
            where inbox.organization_id = differing_now.organization_id and inbox.event_id = differing_now.event_id
          )
          select receipt from told
          order by position`
        return rows.map(({ receipt }) => receipt)
      }, dieNaming("Inbox.receive")),
      STORING_AT_ONCE,
    )

    return { receive }
  }),
)
