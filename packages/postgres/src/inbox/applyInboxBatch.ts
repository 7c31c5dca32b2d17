import type { OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { ApplyResult } from "@outreach/domain/inbox/InboxApplier"
import type { InboundCommand, ParseResult } from "@outreach/domain/inbox/parseInboundEvent"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { countFunnel } from "../campaigns/countFunnel.ts"
import { type CommitTimestamp, commitTimestamp } from "../events/commitTimestamp.ts"
import {
  assertNoNewMatches,
  findWaiting,
  holdRecipients,
  suppress,
  tryToWithdrawAlone,
  withdraw,
} from "../suppressions/withdraw.ts"

/** Reads what a stored event tells this service to do. */
export type Read = (event: { readonly type: string; readonly body: string }) => ParseResult

/** How often a batch begins again because a recipient was imported meanwhile. */
const MAX_BEGINNINGS = 10

/** What a batch comes to that holds nothing. */
export const NOTHING: ApplyResult = { applied: 0, quarantined: [], waiting: 0, unattributed: [], reached: [] }

/** Applies events in one transaction; undefined while somebody else withdraws in the organization. */
export const applyInboxBatch = (organizationId: OrganizationId, ids: ReadonlyArray<string>, read: Read) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* tryToWithdrawAlone(organizationId))) return undefined
    const events = yield* sql<{ eventId: string; type: string; body: string }>`
      select event_id as "eventId", type, body from inbox
      where organization_id = ${organizationId} and event_id = any (${ids}::text[]) and applied_at is null and quarantined_at is null
      order by received_at, event_id`
    const { steps, unusable, ignored } = yield* toSteps(organizationId, events, read)

    const found = yield* findWaiting(organizationId, steps)
    const attributed = yield* findAttributed(organizationId, steps)
    const held = new Set([...found.map(({ id }) => id), ...attributed.values()])
    const inFlight = yield* holdRecipients(organizationId, [...held])
    const blocked = new Set(found.filter(({ id }) => inFlight.has(id)).map(({ position }) => position))
    const ready = deferBlockedClinicians(steps, blocked)

    const reached =
      ready.length === 0
        ? []
        : yield* carryOut(organizationId, {
            steps: ready,
            held,
            attributed,
            toWithdraw: found.flatMap(({ id, position }) => {
              const step = steps[position]!
              const reason = step.stage === "account_created" ? ("suppressed" as const) : step.stage
              return ready.includes(step) ? [{ id, reason, position }] : []
            }),
          })
    if (unusable.length > 0) yield* quarantine(organizationId, unusable)
    const applied = [...ignored, ...ready.map(({ eventId }) => eventId)]
    yield* sql`
      update inbox set applied_at = clock_timestamp()
      where organization_id = ${organizationId} and event_id = any (${applied}::text[])`
    return {
      applied: applied.length,
      quarantined: unusable,
      waiting: steps.length - ready.length,
      unattributed: ready.filter(({ token }) => token && !attributed.has(token)).map(({ eventId }) => eventId),
      reached,
    } satisfies ApplyResult
  }).pipe(
    (transaction) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(transaction)),
    Effect.retry({ times: MAX_BEGINNINGS, while: ({ _tag }) => _tag === "RecipientCame" }),
    Effect.catchTag("RecipientCame", () => Effect.succeed({ ...NOTHING, waiting: ids.length })),
  )

/** Quarantines events until they are replayed. */
export const quarantine = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  events: ApplyResult["quarantined"],
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    update inbox set quarantined_at = clock_timestamp(), reason = given.reason
    from unnest(
      ${events.map(({ eventId }) => eventId)}::text[], ${events.map(({ reason }) => reason)}::text[]
    ) as given (event_id, reason)
    where organization_id = ${organizationId} and inbox.event_id = given.event_id and applied_at is null`
  return { ...NOTHING, quarantined: events }
})

/** An event with something to do in a program. */
interface Step extends InboundCommand {
  readonly eventId: string
  readonly programId: ProgramId
}

const toSteps = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  events: ReadonlyArray<{ readonly eventId: string; readonly type: string; readonly body: string }>,
  read: Read,
) {
  const sql = yield* SqlClient.SqlClient
  const readings = events.map((event) => ({ eventId: event.eventId, reading: read(event) }))
  // A text with a NUL is not a text to PostgreSQL, and no slug.
  const slugs = readings.flatMap(({ reading }) =>
    reading._tag === "InboundCommand" && !reading.instruction.programSlug.includes("\0")
      ? [reading.instruction.programSlug]
      : [],
  )
  const programs = new Map(
    (yield* sql<{ slug: string; id: ProgramId }>`
      select slug, id from programs where organization_id = ${organizationId} and slug = any (${slugs}::text[])`).map(
      ({ slug, id }) => [slug, id],
    ),
  )
  const steps: Array<Step> = []
  const unusable: Array<ApplyResult["quarantined"][number]> = []
  const ignored: Array<string> = []
  for (const { eventId, reading } of readings) {
    if (reading._tag === "Ignored") ignored.push(eventId)
    else if (reading._tag === "Unusable") unusable.push({ eventId, reason: reading.reason })
    else {
      const programId = programs.get(reading.instruction.programSlug)
      if (programId !== undefined) steps.push({ ...reading.instruction, eventId, programId })
      else unusable.push({ eventId, reason: "data.consumer_program_slug names no program of the organization" })
    }
  }
  return { steps, unusable, ignored }
})

/** Finds the recipients whom steps are attributed to, by their tokens. */
const findAttributed = Effect.fnUntraced(function* (organizationId: OrganizationId, steps: ReadonlyArray<Step>) {
  const sql = yield* SqlClient.SqlClient
  const tokens = steps.flatMap(({ token }) => token ?? [])
  const rows = yield* sql<{ token: string; id: RecipientId }>`
    select token, id from recipients where organization_id = ${organizationId} and token = any (${tokens}::text[])`
  return new Map(rows.map(({ token, id }) => [token, id]))
})

/** Leaves out the steps at these positions, and every later one of the same clinicians. */
const deferBlockedClinicians = (steps: ReadonlyArray<Step>, positions: ReadonlySet<number>): ReadonlyArray<Step> => {
  const waiting = new Set<string>()
  return steps.filter(({ npi }, position) => {
    if (positions.has(position)) waiting.add(npi)
    return !waiting.has(npi)
  })
}

/** Writes what steps tell, with one stamp; answers the programs that came to their target with them. */
const carryOut = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  work: {
    readonly steps: ReadonlyArray<Step>
    readonly held: ReadonlySet<RecipientId>
    readonly attributed: ReadonlyMap<string, RecipientId>
    readonly toWithdraw: ReadonlyArray<{
      readonly id: RecipientId
      readonly reason: "suppressed" | "learner_qualified" | "completer_qualified"
      readonly position: number
    }>
  },
) {
  const sql = yield* SqlClient.SqlClient
  const { steps, held, attributed } = work
  yield* suppress(
    organizationId,
    steps.filter(({ stage }) => stage === "account_created"),
    "account_created",
  )
  const at = yield* commitTimestamp(organizationId)
  yield* assertNoNewMatches(organizationId, steps, held)
  const reached = yield* count(organizationId, steps, at)
  // Whoever matches twice is withdrawn for the event that came first.
  const first = new Map(work.toWithdraw.toSorted((a, b) => b.position - a.position).map((each) => [each.id, each]))
  yield* withdraw(organizationId, [...first.values()], at)
  const stamped = steps.flatMap(({ token }) => (token && attributed.get(token)) ?? [])
  if (stamped.length > 0) {
    yield* sql`
      update recipients set account_created_at = coalesce(account_created_at, ${at}::timestamptz),
        last_event_at = ${at}::timestamptz, updated_at = ${at}::timestamptz
      where organization_id = ${organizationId} and id = any (${stamped}::text[])`
  }
  return reached
})

/** Counts each clinician once per program and stage. */
const count = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  steps: ReadonlyArray<Step>,
  at: CommitTimestamp,
) {
  const sql = yield* SqlClient.SqlClient
  const column = (read: (step: Step) => string) => steps.map(read)
  const counted = yield* sql<Pick<Step, "programId" | "stage">>`
    insert into qualifications (organization_id, program_id, stage, npi, event_id, counted_at)
    select distinct on (program_id, stage, npi) ${organizationId}, program_id, stage, npi, event_id, ${at}::timestamptz
    from unnest(
      ${column(({ programId }) => programId)}::text[], ${column(({ stage }) => stage)}::text[],
      ${column(({ npi }) => npi)}::text[], ${column(({ eventId }) => eventId)}::text[]
    ) with ordinality as step (program_id, stage, npi, event_id, position)
    order by program_id, stage, npi, position
    on conflict do nothing
    returning program_id as "programId", stage`
  yield* countFunnel(organizationId, counted, at)
  const reached = yield* sql<{ programId: ProgramId }>`
    select program_id as "programId" from digest_funnel
    where organization_id = ${organizationId} and program_id = any (${counted.map(({ programId }) => programId)}::text[])
      and date = (${at}::timestamptz at time zone 'UTC')::date and completer_reached_at = ${at}::timestamptz`
  return reached.map(({ programId }) => programId)
})
