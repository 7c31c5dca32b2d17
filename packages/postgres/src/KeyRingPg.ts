import { createHash } from "node:crypto"
import type { ApiKey } from "@outreach/domain/callers/ApiKey"
import { type Admission, KeyNotFound, KeyRing } from "@outreach/domain/callers/KeyRing"
import { OrganizationNotFound } from "@outreach/domain/callers/OrganizationRegistry"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

const hashOf = (text: string): Uint8Array => createHash("sha256").update(text, "utf8").digest()

/** Keeps API keys in PostgreSQL, as SHA-256 hashes. */
export const KeyRingPg = Layer.effect(
  KeyRing,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      id, organization_id as "organizationId", name, scopes, prefix, last_four as "lastFour", created_at as "createdAt",
      expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt"`)

    const one = (keyId: string) => (rows: ReadonlyArray<ApiKey>) =>
      rows[0] === undefined ? Effect.fail(new KeyNotFound({ keyId })) : Effect.succeed(rows[0])

    return {
      insert: Effect.fn("KeyRing.insert")(function* (key) {
        const text = Redacted.value(key.text)
        const rows = yield* sql<ApiKey>`
          insert into api_keys (id, organization_id, name, scopes, hash, prefix, last_four, expires_at)
          select ${key.id}, id, ${key.name}, ${key.scopes}::text[], ${hashOf(text)}, ${text.slice(0, 9)}, ${text.slice(-4)},
            ${key.expiresAt}::timestamptz
          from organizations where id = ${key.organizationId}
          returning ${columns}`
        return rows[0] ?? (yield* new OrganizationNotFound({ organizationId: key.organizationId }))
      }, dieNaming("KeyRing.insert")),

      list: Effect.fn("KeyRing.list")(
        (organizationId) =>
          sql<ApiKey>`select ${columns} from api_keys where organization_id = ${organizationId} order by id`,
        dieNaming("KeyRing.list"),
      ),

      find: Effect.fn("KeyRing.find")(
        (keyId) => Effect.flatMap(sql<ApiKey>`select ${columns} from api_keys where id = ${keyId}`, one(keyId)),
        dieNaming("KeyRing.find"),
      ),

      expireIn: Effect.fn("KeyRing.expireIn")(
        (keyId, seconds) =>
          Effect.flatMap(
            sql<ApiKey>`
              update api_keys
              set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${seconds}::double precision))
              where id = ${keyId} returning ${columns}`,
            one(keyId),
          ),
        dieNaming("KeyRing.expireIn"),
      ),

      revoke: Effect.fn("KeyRing.revoke")(
        (keyId) =>
          Effect.flatMap(
            sql<ApiKey>`
              update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp())
              where id = ${keyId} returning ${columns}`,
            one(keyId),
          ),
        dieNaming("KeyRing.revoke"),
      ),

      // One statement finds the key, counts, and notes the use; the window start is in the key, so a new minute needs no reset.
      admit: Effect.fnUntraced(function* (text) {
        const rows = yield* sql<Admission["caller"] & Omit<Admission, "caller">>`
          with caller as (
            select id, organization_id, scopes, last_used_at from api_keys
            where hash = ${hashOf(text)} and revoked_at is null
              and (expires_at is null or expires_at > statement_timestamp())
          ), counted as (
            insert into rate_windows (key_id, window_start, count)
            select id, floor(extract(epoch from statement_timestamp()) / 60)::bigint * 60, 1 from caller
            on conflict (key_id, window_start) do update set count = rate_windows.count + 1
            returning count
          ), used as (
            update api_keys set last_used_at = statement_timestamp()
            where id = (select id from caller where last_used_at is null
              or last_used_at < statement_timestamp() - interval '5 minutes')
              and (last_used_at is null or last_used_at < statement_timestamp() - interval '5 minutes')
          )
          select organization_id as "organizationId", id as "keyId", scopes, count,
            extract(epoch from statement_timestamp())::double precision as now
          from caller, counted`
        const row = rows[0]
        if (row === undefined) return undefined
        const { count, now, ...caller } = row
        return { caller, count, now }
      }, dieNaming("KeyRing.admit")),

      forgetWindows: sql`
        delete from rate_windows where window_start < extract(epoch from statement_timestamp())::bigint - 120`.pipe(
        Effect.asVoid,
        dieNaming("KeyRing.forgetWindows"),
      ),
    }
  }),
)
