import { Deployment } from "@outreach/domain/Deployment"
import { isBotSuspected, recipientsPublished } from "@outreach/domain/digest/Digest"
import { type EventDraft, serialise } from "@outreach/domain/events/Event"
import { toTraceparent } from "@outreach/domain/TraceContext"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect, Tracer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { DIGEST_COLUMNS } from "../digest/digestColumns.ts"
import { Hints } from "./Hints.ts"
import { markHits } from "./markHits.ts"

/**
 * Writes events of one organization and their digest counts, in the transaction of the timestamp.
 *
 * Only traffic campaigns forward events; events of surveys aren't written. `extraTables` contains common table expressions for the same
 * statement: other transactions of the organization wait for its clock, so round trips matter.
 */
export const publishEvents = Effect.fnUntraced(function* (
  events: ReadonlyArray<EventDraft>,
  stamp: CommitTimestamp,
  extraTables?: Statement.Fragment,
) {
  const sql = yield* SqlClient.SqlClient
  const { livemode } = yield* Deployment
  const hints = yield* Hints
  const firsts = yield* markHits(events, stamp)
  const column = (read: (event: EventDraft) => string) => events.map(read)
  yield* traced(
    events,
    (traceparent) => sql`
    with ${extraTables === undefined ? sql.literal("") : sql`${extraTables}, `}draft as materialized (
      select draft.* from unnest(
        ${column((event) => event.organizationId)}::text[], ${column((event) => event.id)}::text[],
        ${column((event) => event.type)}::text[], ${column((event) => event.campaignId)}::text[],
        ${column((event) => event.programId)}::text[], ${column((event) => event.recipientId ?? "")}::text[],
        ${column((event) => event.occurredAt ?? "")}::text[],
        ${column((event) => serialise(event, livemode, stamp))}::text[],
        ${events.map(recipientsPublished)}::int[], ${events.map(isBotSuspected)}::bool[],
        ${events.map(({ id }) => firsts.get(id)?.first ?? false)}::bool[],
        ${events.map(({ id }) => firsts.get(id)?.firstUnsuspected ?? false)}::bool[]
      ) as draft (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, body,
        recipients, suspected, first, first_unsuspected)
      join campaigns on campaigns.organization_id = draft.organization_id and campaigns.id = campaign_id and kind = 'traffic'
    ), event as (
      insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body, traceparent)
      select organization_id, id, type, campaign_id, program_id, nullif(recipient_id, ''),
        coalesce(nullif(occurred_at, ''), ${stamp})::timestamptz, ${stamp}::timestamptz, body, ${traceparent}
      from draft
      returning organization_id, id, type, emitted_at
    ), counted as (
      insert into digest_outreach as kept (organization_id, program_id, date, recipients_published, ${sql.literal(COLUMNS)})
      select organization_id, program_id, (${stamp}::timestamptz at time zone 'UTC')::date, sum(recipients), ${sql.literal(COUNTS)}
      from draft group by organization_id, program_id
      on conflict (organization_id, date, program_id) do update set
        recipients_published = kept.recipients_published + excluded.recipients_published, ${sql.literal(ADDED)}
    )
    select from event`,
  )
  for (const organizationId of new Set(events.map((event) => event.organizationId)))
    yield* hints.give("events", organizationId)
})

const COLUMNS = DIGEST_COLUMNS.map(({ name }) => name).join(", ")

const COUNTS = DIGEST_COLUMNS.map(({ type, isUnique, isUnsuspected }) => {
  const first = isUnsuspected ? "first_unsuspected" : "first"
  const isCounted = isUnique ? ` and ${first}` : isUnsuspected ? " and not suspected" : ""
  return `count(*) filter (where type = '${type}'${isCounted})`
}).join(", ")

const ADDED = DIGEST_COLUMNS.map(({ name }) => `${name} = kept.${name} + excluded.${name}`).join(", ")

/** Publishes in a span that names the events, and passes its `traceparent`; null without tracing. */
const traced = <A, E, R>(
  events: ReadonlyArray<EventDraft>,
  publish: (traceparent: string | null) => Effect.Effect<A, E, R>,
) =>
  Effect.useSpan(
    "publish events",
    { kind: "producer", attributes: { "outreach.event.ids": events.map(({ id }) => id) } },
    (span) => Effect.provideService(publish(toTraceparent(span)), Tracer.ParentSpan, span),
  )
