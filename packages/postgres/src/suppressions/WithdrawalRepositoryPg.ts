import type { RecipientId } from "@outreach/domain/Identifier"
import { WithdrawalRepository } from "@outreach/domain/suppressions/WithdrawalRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { orDieAs } from "../DatabaseFailure.ts"

/** Withdraws recipients in PostgreSQL. */
export const WithdrawalRepositoryPg = Layer.effect(
  WithdrawalRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      takeTurn: (organizationId) =>
        sql<{ taken: boolean }>`
          select pg_try_advisory_xact_lock(hashtextextended('withdraw ' || ${organizationId}, 0))
            and not exists (select from organizations where id = ${organizationId} and frozen_at is not null) as taken`.pipe(
          Effect.map((rows) => rows[0]!.taken),
          orDieAs("WithdrawalRepository.takeTurn"),
        ),

      findMatches: (organizationId, clinicians) =>
        sql<{ id: RecipientId; position: number }>`
          with match as materialized (
            select program.id as program_id, npi, email, position - 1 as position
            from unnest(
              ${clinicians.map(({ programId }) => programId ?? "")}::text[], ${clinicians.map(({ npi }) => npi ?? "")}::text[],
              ${clinicians.map(({ email }) => email ?? "")}::text[]
            ) with ordinality as match (program_id, npi, email, position)
            cross join lateral (
              select match.program_id as id where match.program_id <> ''
              union all
              select id from programs where match.program_id = '' and organization_id = ${organizationId}
            ) program
          )
          select id, position::int from match
          join recipients recipient on recipient.organization_id = ${organizationId} and recipient.program_id = match.program_id
            and recipient.npi = match.npi and sent_at is null and bounced_at is null and withdrawn_at is null
          union
          select id, position::int from match
          join recipients recipient on recipient.organization_id = ${organizationId} and recipient.program_id = match.program_id
            and lower(recipient.email) = lower(match.email) and sent_at is null and bounced_at is null and withdrawn_at is null
          order by position`.pipe(
          Effect.map((rows) => rows.map(({ id, position }) => ({ id, clinician: clinicians[position]! }))),
          orDieAs("WithdrawalRepository.findMatches"),
        ),

      findReached: (organizationId, limit) =>
        sql<{ id: RecipientId }>`
          select recipient.id from programs program
          cross join lateral (
            select id from recipients
            where organization_id = program.organization_id and program_id = program.id
              and sent_at is null and bounced_at is null and withdrawn_at is null
            limit ${limit}
          ) recipient
          where program.organization_id = ${organizationId} and quota_reached(program.organization_id, program.id)
          limit ${limit}`.pipe(
          Effect.map((rows) => rows.map(({ id }) => id)),
          orDieAs("WithdrawalRepository.findReached"),
        ),

      // First the recipients in the order of their ids and then their messages, as everyone who locks both: nobody waits in a circle.
      lock: Effect.fnUntraced(function* (organizationId, recipientIds) {
        const ids = [...recipientIds]
        yield* sql`select from recipients where organization_id = ${organizationId} and id = any (${ids}::text[]) order by id for update`
        const messages = yield* sql<{ id: RecipientId; inFlight: boolean }>`
          select recipient_id as id, coalesce(lease_until >= clock_timestamp(), false) as "inFlight" from messages
          where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
          order by recipient_id for update`
        return new Set(messages.filter(({ inFlight }) => inFlight).map(({ id }) => id))
      }, orDieAs("WithdrawalRepository.lock")),

      withdraw: Effect.fnUntraced(function* (organizationId, withdrawals, at) {
        if (withdrawals.length === 0) return 0
        const rows = yield* sql<{ withdrawn: number }>`
          with withdrawn as (
            update recipients recipient
            set withdrawn_at = ${at}::timestamptz, withdrawal_reason = reason, updated_at = ${at}::timestamptz
            from unnest(
              ${withdrawals.map(({ id }) => id)}::text[], ${withdrawals.map(({ reason }) => reason)}::text[]
            ) as chosen (id, reason)
            where recipient.organization_id = ${organizationId} and recipient.id = chosen.id
              and sent_at is null and bounced_at is null and withdrawn_at is null
            returning recipient.id, ${RECIPIENT_STATE}
          ), unsent as (
            delete from messages message using withdrawn
            where message.organization_id = ${organizationId} and message.recipient_id = withdrawn.id
            returning -1 as sign, ${MESSAGE_STATE}
          ), counted as (${countRecipients("withdrawn")}), tallied as (${countMessages("select * from unsent")})
          select count(*)::int as withdrawn from withdrawn`
        return rows[0]!.withdrawn
      }, orDieAs("WithdrawalRepository.withdraw")),
    }
  }),
)
