import {
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  IdempotencyRepository,
  type IdempotentRequest,
  type StoredResponse,
} from "@outreach/domain/idempotency/IdempotencyRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Remembers answers in PostgreSQL; a request that runs holds its key by locks that end with its transaction. */
export const IdempotencyRepositoryPg = Layer.effect(
  IdempotencyRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Finds the record of a key, or refuses a request that is not the one it was made for. */
    const recall = Effect.fnUntraced(function* ({ organizationId, key, fingerprint }: IdempotentRequest) {
      const rows = yield* sql<StoredResponse & { readonly same: boolean }>`
        select status, headers, body, fingerprint = ${fingerprint} as same from idempotency_keys
        where organization_id = ${organizationId} and key = ${key} and created_at > clock_timestamp() - interval '24 hours'`
      if (rows[0] === undefined) return undefined
      const { same, ...answer } = rows[0]
      return same ? { answer, replayed: true } : yield* new IdempotencyKeyReused()
    })

    // The lock on the whole request comes first: who fails there repeats a request that runs, and who fails at the key has another one.
    const claim = ({ organizationId, key, fingerprint }: IdempotentRequest) => sql<{
      claim: "mine" | "same" | "other"
    }>`
      select case
        when not pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${Buffer.from(fingerprint).toString("hex")} ${key}`}, 0)) then 'same'
        when not pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${key}`}, 0)) then 'other'
        else 'mine' end as claim`

    return {
      once: (request, execute) =>
        Effect.gen(function* () {
          const before = yield* recall(request)
          if (before !== undefined) return before
          return yield* Effect.gen(function* () {
            const [row] = yield* claim(request)
            // Another execution may have ended between the first look and the claim.
            const meanwhile = yield* recall(request)
            if (meanwhile !== undefined) return meanwhile
            if (row!.claim === "same") return yield* new IdempotencyKeyInUse()
            if (row!.claim === "other") return yield* new IdempotencyKeyReused()

            const { answer, keep } = yield* execute
            if (keep) {
              yield* sql`
                insert into idempotency_keys (organization_id, key, fingerprint, status, headers, body)
                values (${request.organizationId}, ${request.key}, ${request.fingerprint}, ${answer.status},
                  ${JSON.stringify(answer.headers)}::jsonb, ${answer.body})
                on conflict (organization_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
                  headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`
            }
            return { answer, replayed: false }
          }).pipe(sql.withTransaction)
        }).pipe(orDieAs("IdempotencyRepository.once")),

      forgetExpired: sql`delete from idempotency_keys where created_at < clock_timestamp() - interval '24 hours'`.pipe(
        Effect.asVoid,
        orDieAs("IdempotencyRepository.forgetExpired"),
      ),
    }
  }),
)
