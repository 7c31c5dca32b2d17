import type { SecretVerification } from "@outreach/domain/deliveries/SigningSecretRepository"
import { EndpointId, KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Schema } from "effect"
import { DatabaseService } from "../adapter.ts"
import { toTable } from "../toTable.ts"

/** For how long counts of the API's responses are kept. */
const COUNTS_RETENTION_DAYS = 30

/** How often the API gave a caller the same kind of response. */
export const RequestCount = Schema.Struct({
  organizationId: OrganizationId,
  /** A key, or the endpoint that a partner's webhook came to. */
  callerId: Schema.Union([KeyId, EndpointId]),
  /** The code of the error; empty without one. */
  code: Schema.String,
  requests: Schema.Number,
  /** The most requests that one rate window had counted of the key; 0 for webhooks. */
  peak: Schema.Int,
})
export type RequestCount = typeof RequestCount.Type

const POLLED_LISTS = ["events", "tokens"] as const
export type PolledList = (typeof POLLED_LISTS)[number]

/** How far a key has read a list. */
export const ReadPosition = Schema.Struct({
  organizationId: OrganizationId,
  keyId: KeyId,
  list: Schema.Literals(POLLED_LISTS),
  /** The event types that it asked for; null for all. */
  types: Schema.NullOr(Schema.Array(Schema.String)),
  /** The last row of its last page; of an empty page, where that began. */
  at: Timestamp,
  id: Schema.String,
  /** Whether another page followed. */
  hasMore: Schema.Boolean,
})
export type ReadPosition = typeof ReadPosition.Type

/** Keeps how partners use the API: counts by hour and code, positions of pollers, and which secrets they sign with. */
export class PartnerActivity extends DatabaseService<PartnerActivity>()(
  "postgres/organizations/PartnerActivity",
  (sql) => {
    // Rows are locked in one order by all who write.
    return {
      /** Adds counts to those of the present hour. */
      countRequests: (counts: ReadonlyArray<RequestCount>) =>
        sql`
          insert into request_counts as kept (organization_id, caller_id, hour, code, requests, peak)
          select organization_id, caller_id, date_trunc('hour', statement_timestamp(), 'UTC'), code, requests, peak
          from ${toTable("given", counts, { organizationId: "text", callerId: "text", code: "text", requests: "bigint", peak: "int" })}
          order by organization_id, caller_id, code
          on conflict (organization_id, caller_id, hour, code)
          do update set requests = kept.requests + excluded.requests, peak = greatest(kept.peak, excluded.peak)`,

      /** Notes how far keys have read lists, one position for each key and list. */
      notePositions: (positions: ReadonlyArray<ReadPosition>) =>
        sql`
          insert into read_positions (organization_id, key_id, list, types, position_at, position_id, has_more, read_at)
          select organization_id, key_id, list, string_to_array(nullif(types, ''), ','), at, given.id, has_more, statement_timestamp()
          from unnest(
            ${positions.map(({ organizationId }) => organizationId)}::text[], ${positions.map(({ keyId }) => keyId)}::text[],
            ${positions.map(({ list }) => list)}::text[], ${positions.map(({ types }) => types?.join() ?? "")}::text[],
            ${positions.map(({ at }) => at)}::timestamptz[], ${positions.map(({ id }) => id)}::text[],
            ${positions.map(({ hasMore }) => hasMore)}::boolean[]) as given (organization_id, key_id, list, types, at, id, has_more)
          order by organization_id, key_id, list
          on conflict (organization_id, key_id, list) do update set types = excluded.types, position_at = excluded.position_at,
            position_id = excluded.position_id, has_more = excluded.has_more, read_at = excluded.read_at`,

      /** Notes that webhooks were verified with secrets just now. */
      noteVerifications: (verifications: ReadonlyArray<Omit<SecretVerification, "verifiedAt">>) =>
        sql`
          insert into secret_verifications (organization_id, secret_id, endpoint_id, verified_at)
          select organization_id, secret_id, endpoint_id, statement_timestamp()
          from ${toTable("given", verifications, { organizationId: "text", secretId: "text", endpointId: "text" })}
          order by organization_id, secret_id, endpoint_id
          on conflict (organization_id, secret_id, endpoint_id) do update set verified_at = excluded.verified_at`,

      /** Deletes the counts that are older than 30 days. */
      forget: sql`delete from request_counts where hour < plausible_now() - make_interval(days => ${COUNTS_RETENTION_DAYS}::int)`,
    }
  },
) {}
