import { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/Programs"
import { type SuppressionScope, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/Withdrawals"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeCount, decodeIsTrue, decodeRows, firstOr, toTable } from "../rowsOf.ts"
import { decodeSuppressions, suppressionColumns, toKeyTable } from "./suppressionRows.ts"

const decodeOwners = decodeColumn({ organization_id: OrganizationId })
const decodeMatches = decodeRows({ id: RecipientId, position: Schema.Int })
const decodeIds = decodeColumn({ id: RecipientId })

export const SuppressionRepositoryPg = adapter(SuppressionRepository, function* (sql) {
  const hints = yield* Hints
  const isWaiting = sql`sent_at is null and bounced_at is null and withdrawn_at is null`
  const ownerOf = ({ programId, organizationId }: SuppressionScope) =>
    programId === undefined
      ? Effect.succeed(organizationId)
      : sql`select organization_id from programs where id = ${programId}`.pipe(
          decodeOwners,
          firstOr(ProgramNotFound, { programId }),
        )

  return {
    add: (organizationId, clinicians, reason, { byUnsubscription = false, isApplied = true } = {}) => {
      const entries = clinicians.flatMap((clinician) =>
        suppressionKeys(clinician).map(({ kind, value }) => ({ programId: clinician.programId ?? "", kind, value })),
      )
      // Revoking an unsubscription doesn't lift a suppression that has a further reason.
      return sql`
          with entry as (
            select distinct kind, lower(value) as value, program_id
            from ${toTable("given", entries, { programId: "text", kind: "text", value: "text" })}
          ), added as (
            insert into suppressions as kept (organization_id, kind, value, program_id, reason, by_unsubscription, applied_at)
            select ${organizationId}, kind, value, program_id, ${reason}, ${byUnsubscription}::boolean,
              case when ${isApplied}::boolean then clock_timestamp() end
            from entry order by kind, value, program_id
            on conflict (organization_id, kind, value, program_id) do update
              set reason = excluded.reason, by_unsubscription = false
              where kept.by_unsubscription and not excluded.by_unsubscription
            returning xmax = 0 as is_new
          )
          select count(*)::int from added where is_new`.pipe(
        decodeCount,
        Effect.tap(isApplied ? Effect.void : hints.give("suppressions", organizationId)),
      )
    },

    remove: Effect.fnUntraced(function* (scope, keys) {
      const organizationId = yield* ownerOf(scope)
      const rows = yield* sql`
          delete from suppressions suppression using ${toKeyTable(keys)}
          where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value
            and program_id in ('', ${scope.programId ?? ""})
          returning 1`
      return rows.length
    }),

    // The limit forces a primary key probe for each key. Without it PostgreSQL would scan the table.
    find: Effect.fnUntraced(function* (scope, keys) {
      const organizationId = yield* ownerOf(scope)
      return yield* sql`
          select suppression.* from ${toKeyTable(keys)}
          cross join lateral (
            select ${suppressionColumns} from suppressions suppression
            where organization_id = ${organizationId} and kind = key.kind and value = key.value
              and program_id in ('', ${scope.programId ?? ""})
            limit 2
          ) suppression`.pipe(decodeSuppressions)
    }),

    findUnapplied: (limit) =>
      sql`
          select ${suppressionColumns} from suppressions suppression
          where applied_at is null
          order by suppression.created_at limit ${limit}`.pipe(decodeSuppressions),

    markApplied: (organizationId, keys) =>
      sql`
          update suppressions suppression set applied_at = clock_timestamp() from ${toKeyTable(keys)}
          where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value and program_id = ''`,

    takeTurn: (organizationId) =>
      sql`
          select pg_try_advisory_xact_lock(hashtextextended('withdraw ' || ${organizationId}, 0)) as is_true`.pipe(
        decodeIsTrue,
      ),

    findMatches: (organizationId, clinicians) => {
      // Probes keys one by one, independent of the statistics.
      const matching = (isSame: string) => sql`
          select recipient.id, position::int from match join campaign using (program_id)
          cross join lateral (
            select recipient_id from recipient_keys
            where organization_id = ${organizationId} and campaign_id = campaign.id and ${sql.literal(isSame)} limit 1
          ) key
          cross join lateral (
            select id from recipients
            where organization_id = ${organizationId} and recipients.id = recipient_id and ${isWaiting} limit 1
          ) recipient`
      const wanted = clinicians.map(({ programId, npi, email }) => {
        return { programId: programId ?? "", npi: npi ?? "", email: email ?? "" }
      })
      return sql`
          with match as materialized (
            select program.id as program_id, npi, email, position - 1 as position
            from ${toTable("match", wanted, { programId: "text", npi: "text", email: "text" }, { position: "position" })}
            cross join lateral (
              select match.program_id as id where match.program_id <> ''
              union all
              select id from programs where match.program_id = '' and organization_id = ${organizationId}
            ) program
          ), campaign as materialized (
            select program_id, id from campaigns
            where organization_id = ${organizationId} and program_id in (select program_id from match) and exists (
              select from recipients where organization_id = ${organizationId} and campaign_id = campaigns.id and ${isWaiting})
          )
          ${matching("recipient_keys.npi = match.npi")} union ${matching("recipient_keys.email = lower(match.email)")}
          order by position`.pipe(
        decodeMatches,
        Effect.map((rows) => rows.map(({ id, position }) => ({ id, clinician: clinicians[position]! }))),
      )
    },

    findReached: (organizationId, limit) =>
      sql`
          select recipient.id from programs program
          cross join lateral (
            select waiting.id from campaigns campaign cross join lateral (
              select id from recipients
              where organization_id = program.organization_id and campaign_id = campaign.id and ${isWaiting} limit ${limit}
            ) waiting
            where campaign.organization_id = program.organization_id and program_id = program.id
            limit ${limit}
          ) recipient
          where program.organization_id = ${organizationId} and quota_reached(program.organization_id, program.id)
          limit ${limit}`.pipe(decodeIds),

    // Locks recipients in id order before their messages, like all other code, to avoid deadlocks.
    lockRecipients: Effect.fnUntraced(function* (organizationId, recipientIds) {
      const ids = [...recipientIds]
      yield* sql`select from recipients where organization_id = ${organizationId} and id = any (${ids}::text[]) order by id for update`
      const inFlight = yield* sql`
          with message as materialized (
            select recipient_id, lease_until from messages
            where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
            order by recipient_id for update
          )
          select recipient_id as id from message where lease_until >= clock_timestamp()`.pipe(decodeIds)
      return new Set(inFlight)
    }),

    withdraw: Effect.fnUntraced(function* (organizationId, withdrawals, at) {
      if (withdrawals.length === 0) return 0
      const withdrawn = yield* sql`
          with withdrawn as (
            update recipients recipient
            set withdrawn_at = ${at}::timestamptz, withdrawal_reason = reason, updated_at = ${at}::timestamptz
            from ${toTable("chosen", withdrawals, { id: "text", reason: "text" })}
            where recipient.organization_id = ${organizationId} and recipient.id = chosen.id
              and ${isWaiting}
            returning recipient.id, ${RECIPIENT_STATE}
          ), unsent as (
            delete from messages message using withdrawn
            where message.organization_id = ${organizationId} and message.recipient_id = withdrawn.id
            returning -1 as sign, ${MESSAGE_STATE}
          ), counted as (${countRecipients("withdrawn")}), tallied as (${countMessages("select * from unsent")})
          select from withdrawn`
      return withdrawn.length
    }),
  }
})
