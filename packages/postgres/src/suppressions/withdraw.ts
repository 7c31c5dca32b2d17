import type { OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { Clinician } from "@outreach/domain/suppressions/Suppression"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CommitTimestamp } from "../events/commitTimestamp.ts"

/** A clinician, in one program. */
export interface Match extends Clinician {
  readonly programId: ProgramId
}

export type WithdrawnFor = "suppressed" | "learner_qualified" | "completer_qualified" | "quota_reached"

/** A recipient whom a transaction withdraws was imported while it went on: it is to begin again. */
export class RecipientCame extends Schema.TaggedError<RecipientCame>()("RecipientCame", {}) {}

/** Runs one organization's transactions that withdraw one after another; answers false when another one is under way. */
export const tryToWithdrawAlone = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ alone: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('withdraw ' || ${organizationId}, 0)) as alone`
  return rows[0]!.alone
})

/** Finds the waiting recipients who match, each with the positions of its matches. */
export const findWaiting = Effect.fnUntraced(function* (organizationId: OrganizationId, matches: ReadonlyArray<Match>) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ id: RecipientId; position: number }>`
    with match as materialized (
      select program_id, npi, email, position - 1 as position from unnest(
        ${matches.map(({ programId }) => programId)}::text[], ${matches.map(({ npi }) => npi ?? "")}::text[],
        ${matches.map(({ email }) => email ?? "")}::text[]
      ) with ordinality as match (program_id, npi, email, position)
    )
    select id, position::int from match
    join recipients recipient on recipient.organization_id = ${organizationId} and recipient.program_id = match.program_id
      and recipient.npi = match.npi and sent_at is null and bounced_at is null and withdrawn_at is null
    union
    select id, position::int from match
    join recipients recipient on recipient.organization_id = ${organizationId} and recipient.program_id = match.program_id
      and lower(recipient.email) = lower(match.email) and sent_at is null and bounced_at is null and withdrawn_at is null`
})

/**
 * Locks recipients and their messages until the transaction ends, and answers whose message is in flight.
 *
 * First the recipients in the order of their ids and then their messages, as everyone who locks both: nobody waits in a circle.
 */
export const holdRecipients = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  ids: ReadonlyArray<RecipientId>,
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select from recipients where organization_id = ${organizationId} and id = any (${ids}::text[]) order by id for update`
  const messages = yield* sql<{ id: RecipientId; inFlight: boolean }>`
    select recipient_id as id, coalesce(lease_until >= clock_timestamp(), false) as "inFlight" from messages
    where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
    order by recipient_id for update`
  return new Set(messages.filter(({ inFlight }) => inFlight).map(({ id }) => id))
})

/** Withdraws those of the recipients that still wait, each for its reason, with their messages; they are held. Answers how many. */
export const withdraw = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  recipients: ReadonlyArray<{ readonly id: RecipientId; readonly reason: WithdrawnFor }>,
  stamp: CommitTimestamp,
) {
  if (recipients.length === 0) return 0
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ withdrawn: number }>`
    with withdrawn as (
      update recipients recipient
      set withdrawn_at = ${stamp}::timestamptz, withdrawal_reason = reason, updated_at = ${stamp}::timestamptz
      from unnest(
        ${recipients.map(({ id }) => id)}::text[], ${recipients.map(({ reason }) => reason)}::text[]
      ) as chosen (id, reason)
      where recipient.organization_id = ${organizationId} and recipient.id = chosen.id
        and sent_at is null and bounced_at is null and withdrawn_at is null
      returning recipient.id
    ), unsent as (
      delete from messages using withdrawn where organization_id = ${organizationId} and recipient_id = withdrawn.id
    )
    select count(*)::int as withdrawn from withdrawn`
  return rows[0]!.withdrawn
})

/** Creates sure, with the clock in hand, that nobody who matches came since `held` were found; then nobody can come any more. */
export const assertNoNewMatches = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  matches: ReadonlyArray<Match>,
  held: ReadonlySet<RecipientId>,
) {
  const waiting = yield* findWaiting(organizationId, matches)
  if (waiting.some(({ id }) => !held.has(id))) return yield* new RecipientCame()
})

/** Suppresses clinicians; part of a transaction. Answers how many entries are new. */
export const suppress = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  matches: ReadonlyArray<Match>,
  reason: string,
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ value: string }>`
    insert into suppressions (organization_id, program_id, kind, value, reason)
    select distinct ${organizationId}, program_id, entry.kind, entry.value, ${reason}
    from unnest(
      ${matches.map(({ programId }) => programId)}::text[], ${matches.map(({ npi }) => npi ?? "")}::text[],
      ${matches.map(({ email }) => email ?? "")}::text[]
    ) as match (program_id, npi, email)
    cross join lateral (values ('npi', npi), ('email', lower(email))) as entry (kind, value)
    where entry.value <> ''
    order by 2, 3, 4
    on conflict do nothing
    returning value`
  return rows.length
})
