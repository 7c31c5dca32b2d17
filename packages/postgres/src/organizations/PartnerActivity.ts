import { FEED_EVENT_TYPES } from "@outreach/contract/names"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import type { SecretVerification } from "@outreach/domain/deliveries/SigningSecretRepository"
import type { EndpointId, KeyId, OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** For how long it is kept how the API answered. */
const COUNTS_RETENTION_DAYS = 30

/** How often the API answered a caller in the same way. */
export interface RequestCount {
  readonly organizationId: OrganizationId
  /** A key, or the endpoint that a partner's webhook came to. */
  readonly callerId: KeyId | EndpointId
  /** The code of the error; empty without one. */
  readonly code: string
  readonly requests: number
  /** The most requests that one rate window had counted of the key; 0 for webhooks. */
  readonly peak: number
}

/** How often the API answered a caller in the same way in an hour. */
export interface HourlyRequests extends RequestCount {
  readonly hour: Timestamp
}

/** Lists that a partner polls. */
export type PolledList = "events" | "tokens"

/** How far a key has read a list. */
export interface ReadPosition {
  readonly organizationId: OrganizationId
  readonly keyId: KeyId
  readonly list: PolledList
  /** The event types that it asked for; null for all. */
  readonly types: ReadonlyArray<string> | null
  /** The last row of its last page; of an empty page, where that began. */
  readonly at: Timestamp
  readonly id: string
  /** Whether another page followed. */
  readonly hasMore: boolean
}

/** How far a key has read a list, and what it has not read yet. */
export interface PollerStatus extends ReadPosition {
  readonly readAt: Timestamp
  /** Rows after its position, counted up to `LIST_COUNT_CAP`, and for how long the first of them has been there. */
  readonly lagRows: number
  readonly lagSeconds: number
}

/** The requests of a key in the present rate window. */
export interface WindowUse {
  readonly keyId: KeyId
  readonly count: number
}

/** How the API answered a caller, or all callers, in a time. */
export interface RequestTotals {
  readonly requests: number
  /** Those that were answered with an error. */
  readonly errors: number
  readonly peak: number
}

/** How the API answered the callers of an organization in a time. */
export interface OrganizationRequests {
  readonly organizationId: OrganizationId
  readonly requests: number
  readonly errors: number
  /** Webhooks whose signature was not valid. */
  readonly badSignatures: number
}

/** Adds counts up. */
export const totalOf = (counts: ReadonlyArray<RequestCount>): RequestTotals =>
  counts.reduce(
    (total, { code, requests, peak }) => ({
      requests: total.requests + requests,
      errors: total.errors + (code === "" ? 0 : requests),
      peak: Math.max(total.peak, peak),
    }),
    { requests: 0, errors: 0, peak: 0 },
  )

/** Keeps how partners use the API: counts by hour and code, positions of pollers, and which secrets they sign with. */
export class PartnerActivity extends Context.Service<PartnerActivity>()("postgres/organizations/PartnerActivity", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Rows are locked in one order by all who write. Nothing is written for an organization that is moving, or that this server does not have yet.
    const served = sql.literal(`join organizations on organizations.id = given.organization_id and frozen_at is null`)

    return {
      /** Adds counts to those of the present hour. */
      countRequests: Effect.fnUntraced(function* (counts: ReadonlyArray<RequestCount>) {
        yield* sql`
          insert into request_counts as kept (organization_id, caller_id, hour, code, requests, peak)
          select organization_id, caller_id, date_trunc('hour', statement_timestamp(), 'UTC'), code, requests, peak
          from unnest(
            ${counts.map(({ organizationId }) => organizationId)}::text[], ${counts.map(({ callerId }) => callerId)}::text[],
            ${counts.map(({ code }) => code)}::text[], ${counts.map(({ requests }) => requests)}::bigint[],
            ${counts.map(({ peak }) => peak)}::int[]) as given (organization_id, caller_id, code, requests, peak)
          ${served}
          order by organization_id, caller_id, code
          on conflict (organization_id, caller_id, hour, code)
          do update set requests = kept.requests + excluded.requests, peak = greatest(kept.peak, excluded.peak)`
      }, orDieAs("PartnerActivity.countRequests")),

      /** Notes how far keys have read lists, one position for each key and list. */
      notePositions: Effect.fnUntraced(function* (positions: ReadonlyArray<ReadPosition>) {
        yield* sql`
          insert into read_positions (organization_id, key_id, list, types, position_at, position_id, has_more, read_at)
          select organization_id, key_id, list, string_to_array(nullif(types, ''), ','), at::timestamptz, given.id, has_more, statement_timestamp()
          from unnest(
            ${positions.map(({ organizationId }) => organizationId)}::text[], ${positions.map(({ keyId }) => keyId)}::text[],
            ${positions.map(({ list }) => list)}::text[], ${positions.map(({ types }) => types?.join() ?? "")}::text[],
            ${positions.map(({ at }) => at)}::text[], ${positions.map(({ id }) => id)}::text[],
            ${positions.map(({ hasMore }) => hasMore)}::boolean[]) as given (organization_id, key_id, list, types, at, id, has_more)
          ${served}
          order by organization_id, key_id, list
          on conflict (organization_id, key_id, list) do update set types = excluded.types, position_at = excluded.position_at,
            position_id = excluded.position_id, has_more = excluded.has_more, read_at = excluded.read_at`
      }, orDieAs("PartnerActivity.notePositions")),

      /** Notes that webhooks were verified with secrets just now. */
      noteVerifications: Effect.fnUntraced(function* (
        verifications: ReadonlyArray<Omit<SecretVerification, "verifiedAt">>,
      ) {
        yield* sql`
          insert into secret_verifications (organization_id, secret_id, endpoint_id, verified_at)
          select organization_id, secret_id, endpoint_id, statement_timestamp()
          from unnest(
            ${verifications.map(({ organizationId }) => organizationId)}::text[],
            ${verifications.map(({ secretId }) => secretId)}::text[],
            ${verifications.map(({ endpointId }) => endpointId)}::text[]) as given (organization_id, secret_id, endpoint_id)
          ${served}
          order by organization_id, secret_id, endpoint_id
          on conflict (organization_id, secret_id, endpoint_id) do update set verified_at = excluded.verified_at`
      }, orDieAs("PartnerActivity.noteVerifications")),

      /** Deletes the counts that are older than 30 days. */
      forget: sql`
        delete from request_counts
        where hour < plausible_now() - make_interval(days => ${COUNTS_RETENTION_DAYS}::int)`.pipe(
        Effect.asVoid,
        orDieAs("PartnerActivity.forget"),
      ),

      /** Lists how the API answered an organization's callers in the last hours, the present one included, oldest first; of one caller or of all. */
      hourlyRequests: Effect.fn("PartnerActivity.hourlyRequests")(
        (organizationId: OrganizationId, hours: number, callerId?: KeyId | EndpointId) => sql<HourlyRequests>`
          select organization_id as "organizationId", caller_id as "callerId", hour, code, requests::double precision, peak
          from request_counts
          where organization_id = ${organizationId} and (${callerId ?? null}::text is null or caller_id = ${callerId ?? null})
            and hour > statement_timestamp() - make_interval(hours => ${hours}::int)
          order by hour, caller_id, code`,
        orDieAs("PartnerActivity.hourlyRequests"),
      ),

      /** Lists how the API answered the callers of each organization in the last hours; of one organization or of all. One that asked for nothing is left out. */
      totals: Effect.fn("PartnerActivity.totals")(
        (hours: number, organizationId?: OrganizationId) => sql<OrganizationRequests>`
          select organization_id as "organizationId", sum(requests)::double precision as requests,
            coalesce(sum(requests) filter (where code <> ''), 0)::double precision as errors,
            coalesce(sum(requests) filter (where code = 'INVALID_SIGNATURE'), 0)::double precision as "badSignatures"
          from request_counts
          where hour > statement_timestamp() - make_interval(hours => ${hours}::int)
            and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
          group by organization_id`,
        orDieAs("PartnerActivity.totals"),
      ),

      /** Lists how many requests an organization's keys have made in the present rate window; a key that has made none is left out. */
      windowUse: Effect.fn("PartnerActivity.windowUse")(
        (organizationId: OrganizationId) => sql<WindowUse>`
          select key_id as "keyId", count::int from api_keys join rate_windows on key_id = api_keys.id
          where organization_id = ${organizationId}
            and window_start = floor(extract(epoch from statement_timestamp()) / 60)::bigint * 60`,
        orDieAs("PartnerActivity.windowUse"),
      ),

      /** Lists how far an organization's keys have read the lists, and how far behind they are: one range of an index each. */
      pollers: Effect.fn("PartnerActivity.pollers")(
        (organizationId: OrganizationId) => sql<PollerStatus>`
          select organization_id as "organizationId", key_id as "keyId", list, types, position_at as at, position_id as id,
            has_more as "hasMore", read_at as "readAt", ahead.count::int as "lagRows",
            greatest(0, coalesce(extract(epoch from statement_timestamp() - ahead.since), 0))::double precision as "lagSeconds"
          from read_positions
          cross join lateral (
            select count(*) as count, min(at) as since from (
              -- The whole feed is one range of events_log, and each type of a filter one of events_by_type.
              (select emitted_at as at from events
                where list = 'events' and types is null and events.organization_id = read_positions.organization_id
                  and type = any (${FEED_EVENT_TYPES}::text[]) and emitted_at >= position_at
                  and (emitted_at, events.id) > (position_at, position_id)
                order by emitted_at, events.id limit ${LIST_COUNT_CAP}::int)
              union all
              select emitted_at from events_after(organization_id, types, position_at, position_id, 'infinity', ${LIST_COUNT_CAP}::int)
              where list = 'events' and types is not null
              union all
              (select updated_at from recipients
                where list = 'tokens' and recipients.organization_id = read_positions.organization_id
                  and (updated_at, recipients.id) > (position_at, position_id)
                order by updated_at, recipients.id limit ${LIST_COUNT_CAP}::int)
            ) each
          ) ahead
          where organization_id = ${organizationId} order by key_id, list`,
        orDieAs("PartnerActivity.pollers"),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(PartnerActivity, PartnerActivity.make)
}
