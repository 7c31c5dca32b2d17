import { FEED_EVENT_TYPES } from "@outreach/contract/names"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { type EndpointId, KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { equal } from "@outreach/postgres/conditions"
import { ReadPosition, RequestCount } from "@outreach/postgres/organizations/PartnerActivity"
import { decodeRows, rowsOf } from "@outreach/postgres/rowsOf"
import { Schema } from "effect"

/** How often the API gave a caller the same kind of response in an hour. */
const HourlyRequests = Schema.Struct({ ...RequestCount.fields, hour: Timestamp })
export type HourlyRequests = typeof HourlyRequests.Type

/** How far a key has read a list, and what it has not read yet. */
const PollerStatus = Schema.Struct({
  ...ReadPosition.fields,
  readAt: Timestamp,
  /** Rows after its position, counted up to `LIST_COUNT_CAP`, and for how long the first of them has been there. */
  lagRows: Schema.Int,
  lagSeconds: Schema.Number,
})
export type PollerStatus = typeof PollerStatus.Type

/** The requests of a key in the present rate window. */
const WindowUse = Schema.Struct({ keyId: KeyId, count: Schema.Int })
export type WindowUse = typeof WindowUse.Type

/** How the API answered the callers of an organization in a time. */
const OrganizationRequests = Schema.Struct({
  organizationId: OrganizationId,
  requests: Schema.Number,
  errors: Schema.Number,
  /** Webhooks whose signature was not valid. */
  badSignatures: Schema.Number,
})
export type OrganizationRequests = typeof OrganizationRequests.Type

const hourly = rowsOf(HourlyRequests, { requests: "requests::double precision" })
const pollers = rowsOf(PollerStatus, {
  ...{ at: "position_at", id: "position_id", lagRows: "ahead.count::int" },
  lagSeconds: "greatest(0, coalesce(extract(epoch from statement_timestamp() - ahead.since), 0))::double precision",
})
const decodeTotals = decodeRows(OrganizationRequests.fields)
const decodeWindows = decodeRows(WindowUse.fields)

/** How the API answered a caller, or all callers, in a time. */
export interface RequestTotals {
  readonly requests: number
  /** Those that were answered with an error. */
  readonly errors: number
  readonly peak: number
}

export const totalOf = (counts: ReadonlyArray<RequestCount>): RequestTotals =>
  counts.reduce(
    (total, { code, requests, peak }) => ({
      requests: total.requests + requests,
      errors: total.errors + (code === "" ? 0 : requests),
      peak: Math.max(total.peak, peak),
    }),
    { requests: 0, errors: 0, peak: 0 },
  )

/** Reads how partners use the API: counts by hour and code, and how far their pollers are. */
export class PartnerActivityReader extends DatabaseService<PartnerActivityReader>()(
  "backoffice/organizations/PartnerActivityReader",
  (sql) => ({
    /** Lists how the API answered an organization's callers in the last hours, the present one included, oldest first; of one caller or of all. */
    hourlyRequests: (organizationId: OrganizationId, hours: number, callerId?: KeyId | EndpointId) =>
      sql`
      select ${hourly.columns} from request_counts
      where ${equal({ organization_id: organizationId, caller_id: callerId })}
        and hour > statement_timestamp() - make_interval(hours => ${hours}::int)
      order by hour, caller_id, code`.pipe(hourly.decode),

    /** Lists how the API answered the callers of each organization in the last hours; of one organization or of all. One that asked for nothing is left out. */
    totals: (hours: number, organizationId?: OrganizationId) =>
      sql`
      select organization_id as "organizationId", sum(requests)::double precision as requests,
        coalesce(sum(requests) filter (where code <> ''), 0)::double precision as errors,
        coalesce(sum(requests) filter (where code = 'INVALID_SIGNATURE'), 0)::double precision as "badSignatures"
      from request_counts
      where ${equal({ organization_id: organizationId })} and hour > statement_timestamp() - make_interval(hours => ${hours}::int)
      group by organization_id`.pipe(decodeTotals),

    /** Lists how many requests an organization's keys have made in the present rate window; a key that has made none is left out. */
    windowUse: (organizationId: OrganizationId) =>
      sql`
      select key_id as "keyId", count::int from api_keys join rate_windows on key_id = api_keys.id
      where organization_id = ${organizationId}
        and window_start = floor(extract(epoch from statement_timestamp()) / 60)::bigint * 60`.pipe(decodeWindows),

    /** Lists how far an organization's keys have read the lists, and how far behind they are: one range of an index each. */
    pollers: (organizationId: OrganizationId) =>
      sql`
    select ${pollers.columns}
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
    where organization_id = ${organizationId} order by key_id, list`.pipe(pollers.decode),
  }),
) {}
