import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { assertNoNewMatches, findWaiting, holdRecipients, suppress, tryToWithdrawAlone, withdraw } from "./withdraw.ts"

/** Somebody else withdraws in the organization, or a message is in flight. */
class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}

/** Longer than any lease of a message; tried every 100 ms. */
const MAX_TRIES = 1200

/** Keeps suppressions in PostgreSQL. */
export const SuppressionRepositoryPg = Layer.effect(
  SuppressionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const columns = sql.literal(`
      organization_id as "organizationId", program_id as "programId", suppression.kind, suppression.value, reason,
      created_at as "createdAt"`)

    const organizationOf = Effect.fnUntraced(function* (programId: ProgramId) {
      const rows = yield* sql<{
        id: OrganizationId
      }>`select organization_id as id from programs where id = ${programId}`
      return (rows[0] ?? (yield* new ProgramNotFound({ programId }))).id
    })

    return {
      add: Effect.fn("SuppressionRepository.add")(
        function* (programId, clinicians, reason) {
          const organizationId = yield* organizationOf(programId)
          const matches = clinicians.map((clinician) => ({ ...clinician, programId }))
          const once = Effect.gen(function* () {
            if (!(yield* tryToWithdrawAlone(organizationId))) return yield* new Busy()
            const held = new Set((yield* findWaiting(organizationId, matches)).map(({ id }) => id))
            if ((yield* holdRecipients(organizationId, [...held])).size > 0) return yield* new Busy()
            const added = yield* suppress(organizationId, matches, reason)
            const at = yield* commitTimestamp(organizationId)
            yield* assertNoNewMatches(organizationId, matches, held)
            const recipients = [...held].map((id) => ({ id, reason: "suppressed" as const }))
            return { added, withdrawn: yield* withdraw(organizationId, recipients, at) }
          })
          return yield* sql.withTransaction(once).pipe(
            Effect.retry({
              while: ({ _tag }) => _tag === "Busy" || _tag === "RecipientCame",
              schedule: Schedule.spaced("100 millis"),
              times: MAX_TRIES,
            }),
            Effect.catchTag(["Busy", "RecipientCame"], Effect.die),
          )
        },
        Effect.provideService(SqlClient.SqlClient, sql),
        orDieAs("SuppressionRepository.add"),
      ),

      remove: Effect.fn("SuppressionRepository.remove")(function* (programId, keys) {
        const organizationId = yield* organizationOf(programId)
        const rows = yield* sql`
          delete from suppressions suppression
          using unnest(${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          where organization_id = ${organizationId} and program_id = ${programId}
            and suppression.kind = key.kind and suppression.value = lower(key.value)
          returning 1`
        return rows.length
      }, orDieAs("SuppressionRepository.remove")),

      find: Effect.fn("SuppressionRepository.find")(function* (programId, keys) {
        const organizationId = yield* organizationOf(programId)
        return yield* sql<Suppression>`
          select ${columns} from unnest(
            ${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          join suppressions suppression on organization_id = ${organizationId} and program_id = ${programId}
            and suppression.kind = key.kind and suppression.value = lower(key.value)`
      }, orDieAs("SuppressionRepository.find")),

      list: Effect.fn("SuppressionRepository.list")(function* (programId, limit, kind) {
        const organizationId = yield* organizationOf(programId)
        return yield* sql<Suppression>`
          select ${columns} from suppressions suppression
          where organization_id = ${organizationId} and program_id = ${programId}
            and (${kind ?? null}::text is null or kind = ${kind ?? null})
          order by kind, value limit ${limit}`
      }, orDieAs("SuppressionRepository.list")),
    }
  }),
)
