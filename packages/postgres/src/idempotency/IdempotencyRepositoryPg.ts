import {
  IdempotencyRepository,
  type KeyHolder,
  RESPONSE_RETENTION_SECONDS,
  type StoredResponse,
} from "@outreach/domain/idempotency/IdempotencyRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Keeps responses in PostgreSQL; a request that runs holds its key by locks that end with its transaction. */
export const IdempotencyRepositoryPg = Layer.effect(
  IdempotencyRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const expiredBefore = sql`clock_timestamp() - make_interval(secs => ${RESPONSE_RETENTION_SECONDS}::double precision)`

    return {
      find: Effect.fnUntraced(function* ({ organizationId, key, fingerprint }) {
        const rows = yield* sql<StoredResponse & { readonly isSame: boolean }>`
          select status, headers, body, fingerprint = ${fingerprint} as "isSame" from idempotency_keys
          where organization_id = ${organizationId} and key = ${key} and created_at > ${expiredBefore}`
        if (rows[0] === undefined) return undefined
        const { isSame, ...response } = rows[0]
        return { isSame, response }
      }, orDieAs("IdempotencyRepository.find")),

      // The lock on the whole request comes first: who fails there repeats a request that runs, and who fails at the key has another one.
      lock: Effect.fnUntraced(function* ({ organizationId, key, fingerprint }) {
        const rows = yield* sql<{ holder: KeyHolder }>`
          select case
            when not pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${Buffer.from(fingerprint).toString("hex")} ${key}`}, 0)) then 'same'
            when not pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${key}`}, 0)) then 'other'
            else 'ours' end as holder
          -- Held with others until the transaction ends: an erasure waits until the responses that were read before it are stored.
          from (select pg_advisory_xact_lock_shared(hashtextextended(${`responses ${organizationId}`}, 0)) offset 0) reading`
        return rows[0]!.holder
      }, orDieAs("IdempotencyRepository.lock")),

      store: Effect.fnUntraced(function* ({ organizationId, key, fingerprint }, { status, headers, body }) {
        yield* sql`
          insert into idempotency_keys (organization_id, key, fingerprint, status, headers, body)
          values (${organizationId}, ${key}, ${fingerprint}, ${status}, ${JSON.stringify(headers)}::jsonb, ${body})
          on conflict (organization_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
            headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`
      }, orDieAs("IdempotencyRepository.store")),

      forgetExpired: sql`delete from idempotency_keys where created_at < ${expiredBefore}`.pipe(
        Effect.asVoid,
        orDieAs("IdempotencyRepository.forgetExpired"),
      ),
    }
  }),
)
