import type { Attempt, DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import type { DeliveryId, EndpointId, EventId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { failureGroupsOf } from "@outreach/postgres/deliveries/failureGroupsOf"
import { replaceAttempts } from "@outreach/postgres/deliveries/replaceAttempts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishSent, seedCampaign } from "./seedCampaign.ts"
import { sql } from "./sql.ts"

interface DeadLetter {
  readonly organizationId: OrganizationId
  readonly endpointId: EndpointId
  readonly eventId: EventId
  readonly reason: DeadLetterReason
  /** Default none. Details that aren't given are those of a response with the status 500. */
  readonly attempts?: ReadonlyArray<Partial<Attempt>>
  /** Seconds since it became a dead letter. Default 0. */
  readonly secondsAgo?: number
}

const FAILED = {
  startedAt: Timestamp.make("2026-11-01T00:00:00.000000Z"),
  latencyMs: 5,
  status: 500,
  outcome: "server_error",
  response: null,
} as const

/** Inserts dead letters as workers do, with their groups of failures and counts. Returns their ids. */
export const insertDeadLetters = Effect.fnUntraced(function* (deadLetters: ReadonlyArray<DeadLetter>) {
  const rows = deadLetters.map(({ attempts: made = [], secondsAgo = 0, ...each }) => {
    const attempts = made.map((attempt, i) => ({ number: i + 1, ...FAILED, ...attempt }))
    return { ...each, attempts, secondsAgo, groups: failureGroupsOf(each.endpointId, attempts.at(-1)) }
  })
  const inserted = yield* sql<{ ids: ReadonlyArray<DeliveryId> | null }>`
    with given as materialized (
      select *, make_id('dlv') as id, clock_timestamp() - make_interval(secs => "secondsAgo") as at,
        choose_failure_group("organizationId", "endpointId", groups,
          dense_rank() over (partition by groups->'overflow'->>'id' order by groups->'exact'->>'id') - 1) as failure_group
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (
        "organizationId" text, "endpointId" text, "eventId" text, reason text, attempts jsonb, "secondsAgo" double precision, groups jsonb)
    ), dead as (
      insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at, finished_at)
      select "organizationId", id, "endpointId", "eventId", reason, attempts, failure_group->>'id', at, at from given
    ), outcomes as (
      insert into delivery_outcomes as held (organization_id, endpoint_id, at, dead_letters)
      select "organizationId", "endpointId", date_bin('5 minutes', at, 'epoch'), count(*) from given group by 1, 2, 3 order by 3, 2
      on conflict (endpoint_id, at, seconds, organization_id) do update set dead_letters = held.dead_letters + excluded.dead_letters
      returning 1
    ), grouped as materialized (
      select count_failures(jsonb_agg(change)) from (
        select "organizationId" as organization_id, failure_group->>'id' as group_id, at, 1 as failures, reason, 1 as opened, 1 as stored,
          failure_group
        from given where (select count(*) from outcomes) >= 0
      ) change
    )
    select (select array_agg(id) from given) as ids from grouped`
  return inserted[0]!.ids ?? []
})

/**
 * Creates an organization with a number of dead letters of one event. Each died a millisecond after the previous one, the last one `daysAgo`. Its
 * endpoint is disabled, so that replayed events stay visible.
 */
export const seedDeadLetters = Effect.fnUntraced(function* (
  count: number,
  options: {
    readonly reason?: DeadLetterReason
    readonly daysAgo?: number
    /** Attempts of each; default none. */
    readonly attempts?: DeadLetter["attempts"]
  } = {},
) {
  const { reason = "exhausted", daysAgo = 0, attempts = [] } = options
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, endpoint, campaign } = seeded
  const [eventId] = yield* publishSent(campaign, 1)
  yield* sql`
    update reader_positions set begun_at = last, begun_id = '~' from organization_clock clock
    where endpoint_id = ${endpoint.id} and clock.organization_id = ${organization.id}`
  yield* sql`update webhook_endpoints set enabled = false where id = ${endpoint.id}`
  const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId: eventId!, reason, attempts }
  yield* insertDeadLetters(
    Array.from({ length: count }, (_, n) => ({ ...dead, secondsAgo: daysAgo * 86_400 + (count - n - 1) / 1000 })),
  )
  return { ...seeded, eventId: eventId! }
})

/** Changes the attempts of an organization's dead letters, or of one of them, and their groups of failures. */
export const changeAttempts = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  change: (attempts: ReadonlyArray<Attempt>) => ReadonlyArray<Attempt>,
  id: DeliveryId | null = null,
) {
  const rows = yield* sql<{ id: DeliveryId; endpoint_id: EndpointId; attempts: ReadonlyArray<Attempt> }>`
    select id, endpoint_id, attempts from dead_letters
    where organization_id = ${organizationId} and (${id}::text is null or id = ${id})`
  const changed = rows.map((row) => ({ id: row.id, endpointId: row.endpoint_id, attempts: change(row.attempts) }))
  yield* SqlClient.SqlClient.use((client) => replaceAttempts(client, organizationId, changed))
})
