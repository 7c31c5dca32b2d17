import { hash } from "node:crypto"
import { coalesce } from "@outreach/domain/coalesce"
import type { KeyId } from "@outreach/domain/Identifier"
import { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository, KeyNotFound, KeyRevoked, type KeyUse } from "@outreach/domain/organizations/ApiKeys"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Effect, Redacted, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { first, firstOr, rowsOf } from "../rowsOf.ts"

const { columns, decode } = rowsOf(ApiKey)
const { organizationId, id: keyId, scopes } = ApiKey.fields
/** The usage of a key. Not decoded, which would take 1.5 of the look-up's 75 µs. */
const keyUses = rowsOf(
  Schema.Struct({ request: Schema.Int, organizationId, keyId, scopes, count: Schema.Int, now: Schema.Number }),
  {
    request: "request::int",
    keyId: "id",
    count: "(counted.count + 1 - row_number() over (partition by id order by request desc))::int",
    now: "extract(epoch from statement_timestamp())::double precision",
  },
)

const hashOf = (text: string): string => hash("sha256", text, "hex")

const MAX_BATCH_SIZE = 100
/** The number of concurrent statements. On a busy machine a single one would wait for CPU time. */
const AUTHENTICATION_CONCURRENCY = 2

/** Stores API keys in PostgreSQL as SHA-256 hashes. */
export const ApiKeyRepositoryPg = adapter(ApiKeyRepository, function* (sql) {
  const find = (keyId: KeyId) =>
    sql`select ${columns} from api_keys where id = ${keyId}`.pipe(decode, firstOr(KeyNotFound, { keyId }))

  // One statement finds the keys, counts the requests and records the usage. The window start is part of the key, so a new minute needs no reset.
  // Requests that arrive while it runs share the next statement, which saves two thirds of the work under load. Rows are locked in id order
  // to avoid deadlocks between processes.
  const authenticateKey = yield* coalesce(
    MAX_BATCH_SIZE,
    Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
      const rows = yield* sql`
          with presented as (
            select decode(hash, 'hex') as hash, request
            from unnest(${texts.map(hashOf)}::text[]) with ordinality as presented (hash, request)
          ), caller as (
            select id, organization_id, scopes, last_used_at, request
            from presented join api_keys using (hash)
            where revoked_at is null and (expires_at is null or expires_at > statement_timestamp())
          ), counted as (
            insert into rate_windows (key_id, window_start, count)
            select id, floor(extract(epoch from statement_timestamp()) / 60)::bigint * 60, count(*)
            from caller group by id order by id
            on conflict (key_id, window_start) do update set count = rate_windows.count + excluded.count
            returning key_id, count
          ), used as (
            update api_keys set last_used_at = statement_timestamp()
            where id in (
              select id from api_keys
              where id in (select id from caller where last_used_at is null or last_used_at < statement_timestamp() - interval '5 minutes')
              for no key update skip locked
            )
          )
          select ${keyUses.columns} from caller join counted on key_id = id`.values
      const uses: Array<KeyUse | undefined> = Array(texts.length).fill(undefined)
      for (const { request, count, now, ...caller } of rows.map(keyUses.fromValues)) {
        uses[request - 1] = { caller, count, now }
      }
      return uses
    }),
    { concurrency: AUTHENTICATION_CONCURRENCY, isRepeatable: false },
  )

  return {
    insert: (key) => {
      const text = Redacted.value(key.text)
      return sql`
          insert into api_keys (id, organization_id, name, scopes, hash, prefix, last_four, expires_at)
          select ${key.id}, id, ${key.name}, ${key.scopes}::text[], decode(${hashOf(text)}, 'hex'), ${text.slice(0, 9)}, ${text.slice(-4)},
            ${key.expiresAt}::timestamptz
          from organizations where id = ${key.organizationId}
          returning ${columns}`.pipe(decode, firstOr(OrganizationNotFound, { organizationId: key.organizationId }))
    },

    list: (organizationId) =>
      sql`select ${columns} from api_keys where organization_id = ${organizationId} order by id`.pipe(decode),

    find,

    findByText: (text) =>
      sql`select ${columns} from api_keys where hash = decode(${hashOf(Redacted.value(text))}, 'hex')`.pipe(
        decode,
        first,
      ),

    rotate: Effect.fnUntraced(function* (keyId, successor, overlapSeconds) {
      const text = Redacted.value(successor.text)
      const rows = yield* sql`
          with old as (
            update api_keys
            set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${overlapSeconds}::double precision))
            where id = ${keyId} and revoked_at is null
            returning organization_id, name, scopes
          )
          insert into api_keys (id, organization_id, name, scopes, hash, prefix, last_four)
          select ${successor.id}, organization_id, name, scopes, decode(${hashOf(text)}, 'hex'), ${text.slice(0, 9)}, ${text.slice(-4)}
          from old returning ${columns}`.pipe(decode)
      if (rows[0] !== undefined) return rows[0]
      yield* find(keyId)
      return yield* new KeyRevoked({ keyId })
    }),

    revoke: (keyId) =>
      sql`
          update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp())
          where id = ${keyId} returning ${columns}`.pipe(decode, firstOr(KeyNotFound, { keyId })),

    authenticateKey,
  }
})
