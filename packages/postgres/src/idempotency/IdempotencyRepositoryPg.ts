import { IdempotencyRepository, RESPONSE_RETENTION_SECONDS } from "@outreach/domain/idempotency/IdempotencyRepository"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { decodeRows, decodeValue } from "../rowsOf.ts"
import { packBody, StoredBody, unpackBody } from "./StoredBody.ts"

const decodeResponses = decodeRows({
  ...StoredBody.fields,
  same: Schema.Boolean,
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
})
const decodeHolder = decodeValue({ holder: Schema.Literals(["ours", "same", "other"]) })

/** Stores responses in PostgreSQL. A running request locks its key until its transaction ends. */
export const IdempotencyRepositoryPg = adapter(IdempotencyRepository, (sql) => {
  return {
    find: Effect.fnUntraced(function* ({ organizationId, key, fingerprint }) {
      const rows = yield* sql`
          select status, headers, encoding, body, fingerprint = ${fingerprint} as same from stored_responses
          where organization_id = ${organizationId} and key = ${key}
            and created_at > clock_timestamp() - make_interval(secs => ${RESPONSE_RETENTION_SECONDS}::double precision)`.pipe(
        decodeResponses,
      )
      if (rows[0] === undefined) return undefined
      const { same: isSame, status, headers, ...stored } = rows[0]
      return { isSame, response: { status, headers, body: unpackBody(stored) } }
    }),

    // The lock of the whole request is first: if it fails, the same request is running; if only the key's lock fails, a different request uses the key.
    lock: ({ organizationId, key, fingerprint }) =>
      sql`
          select case
            when not pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${Buffer.from(fingerprint).toString("hex")} ${key}`}, 0)) then 'same'
            when not pg_try_advisory_xact_lock(hashtextextended(${`${organizationId} ${key}`}, 0)) then 'other'
            else 'ours' end as holder
          -- A shared lock until the transaction ends: an erasure waits until all responses that were read before it are stored.
          from (select pg_advisory_xact_lock_shared(hashtextextended(${`responses ${organizationId}`}, 0)) offset 0) reading`.pipe(
        decodeHolder,
      ),

    store: Effect.fnUntraced(function* (
      { organizationId, key, fingerprint },
      { status, headers, body: text },
      maxBytes,
    ) {
      const { encoding, body } = packBody(text)
      const headersText = JSON.stringify(headers)
      const bytes = (body?.length ?? 0) + headersText.length + key.length + ROW_BYTES
      if (bytes > maxBytes) return
      // The total's row serializes the responses of an organization. Locked responses are already being deleted or replaced.
      yield* sql`
          with total as (
            insert into stored_response_totals as total (organization_id, bytes) values (${organizationId}, ${bytes}::bigint)
            on conflict (organization_id) do update set bytes = total.bytes + excluded.bytes
            returning bytes
          ), stored as (
            insert into stored_responses (organization_id, key, fingerprint, status, headers, encoding, body, bytes_before)
            select ${organizationId}, ${key}, ${fingerprint}::bytea, ${status}::smallint, ${headersText}::jsonb, ${encoding},
              ${body}::bytea, bytes - ${bytes}::bigint
            from total
            on conflict (organization_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
              headers = excluded.headers, encoding = excluded.encoding, body = excluded.body,
              bytes_before = excluded.bytes_before, created_at = excluded.created_at
            returning bytes_before
          ), oldest as materialized (
            select key from stored_responses
            where organization_id = ${organizationId}
              and bytes_before < (select bytes_before from stored) + ${bytes}::bigint - ${maxBytes}::bigint
            order by bytes_before limit ${DELETED_AT_ONCE} for update skip locked
          )
          delete from stored_responses where organization_id = ${organizationId} and key = any (array(select key from oldest))`
    }),
  }
})

/** The maximum number of responses that a request deletes. The limit also makes the planner use the index: it estimates a third of all rows. */
const DELETED_AT_ONCE = 100

/** The size of a row and its index entries without body, headers and key. */
const ROW_BYTES = 256
