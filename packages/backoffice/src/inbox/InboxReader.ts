import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { FunnelStage } from "@outreach/domain/digest/Digest"
import type { OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { InboxEntry, InboxState } from "@outreach/domain/inbox/InboxRepository"
import type { InboundCommand } from "@outreach/domain/inbox/parseInboundEvent"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** An event must match every given condition. */
export interface InboxFilter {
  readonly organizationId?: OrganizationId | undefined
  readonly type?: string | undefined
  /** Of quarantined events. */
  readonly reason?: string | undefined
  /** When the event was received: from this time on, and before that one. */
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
}

/** A place in a list, after which it goes on. */
export interface InboxPlace {
  /** When the event was quarantined, for a list of quarantined events; else when it was received. */
  readonly at: Timestamp
  readonly organizationId: string
  readonly eventId: string
}

export interface InboxPage {
  readonly entries: ReadonlyArray<InboxEntry>
  /** Null at the end of the list. A page may be short, or empty, although the list goes on. */
  readonly next: InboxPlace | null
}

/** How many events wait or are quarantined; `COUNT_CAP` stands for as many or more. */
export interface InboxCounts {
  readonly quarantined: number
  readonly waiting: number
  /** When the first waiting event was received. */
  readonly waitingSince: Timestamp | null
}

/** Quarantined events of one type with one reason. */
export interface InboxReason {
  readonly type: string
  readonly reason: string
  readonly count: number
  readonly first: Timestamp
  readonly last: Timestamp
}

/** What partners sent within an hour. */
export interface InboxHour {
  readonly at: Timestamp
  /** Events that were acknowledged, repetitions included. */
  readonly received: number
  readonly badSignatures: number
  /** Events that were refused for another reason. */
  readonly refused: number
}

/** What an event's command refers to, and what was written when the event was applied. */
export interface InboxOutcome {
  readonly programId: ProgramId | null
  readonly programName: string | null
  /** The qualification of the clinician at this stage, and the event that counted it: the first that told of it. */
  readonly qualification: { readonly eventId: string; readonly countedAt: Timestamp } | null
  /** Since when the clinician's NPI is suppressed in the program. */
  readonly suppressedAt: Timestamp | null
  /** The recipient whose token the event names. */
  readonly recipientId: RecipientId | null
}

/** How many received events one page of applied ones looks at: those of another type or state are passed over. */
const MAX_SCANNED = 500

/** Reads what partners sent: lists, counts and hours, each from a range of an index of each organization. */
export class InboxReader extends Context.Service<InboxReader>()("backoffice/inbox/InboxReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      inbox.organization_id as "organizationId", inbox.event_id as "eventId", endpoint_id as "endpointId", secret_id as "secretId", type,
      case when applied_at is not null then 'applied' when quarantined_at is not null then 'quarantined' else 'waiting' end as state,
      reason, inbox.received_at as "receivedAt", applied_at as "appliedAt", quarantined_at as "quarantinedAt", differing`)
    const orNull = (value: string | undefined) => value ?? null

    const quarantined = ({ organizationId, type, reason, from, to }: InboxFilter, limit: number, after?: InboxPlace) =>
      sql<InboxEntry>`
        select found.* from organizations
        cross join lateral (
          select ${columns} from inbox
          where organization_id = organizations.id and quarantined_at >= coalesce(${orNull(after?.at)}::timestamptz, '-infinity')
            and (${orNull(after?.at)}::timestamptz is null or (quarantined_at, organization_id, event_id)
              > (${orNull(after?.at)}::timestamptz, ${after?.organizationId ?? ""}, ${after?.eventId ?? ""}))
            and (${orNull(type)}::text is null or type = ${orNull(type)})
            and (${orNull(reason)}::text is null or reason = ${orNull(reason)})
            and received_at >= coalesce(${orNull(from)}::timestamptz, '-infinity')
            and received_at < coalesce(${orNull(to)}::timestamptz, 'infinity')
          order by quarantined_at, event_id limit ${limit}
        ) found
        where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)}
        order by "quarantinedAt", "organizationId", "eventId" limit ${limit}`

    const waiting = ({ organizationId, type, from, to }: InboxFilter, limit: number, after?: InboxPlace) =>
      sql<InboxEntry>`
        select found.* from organizations
        cross join lateral (
          select ${columns} from inbox
          where organization_id = organizations.id and applied_at is null and quarantined_at is null
            and received_at >= greatest(
              coalesce(${orNull(after?.at)}::timestamptz, '-infinity'), coalesce(${orNull(from)}::timestamptz, '-infinity'))
            and (${orNull(after?.at)}::timestamptz is null or (received_at, organization_id, event_id)
              > (${orNull(after?.at)}::timestamptz, ${after?.organizationId ?? ""}, ${after?.eventId ?? ""}))
            and (${orNull(type)}::text is null or type = ${orNull(type)})
            and received_at < coalesce(${orNull(to)}::timestamptz, 'infinity')
          order by received_at, event_id limit ${limit}
        ) found
        where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)}
        order by "receivedAt", "organizationId", "eventId" limit ${limit}`

    // The newest keys of all, of which each organization gives as many at most; and then their events, each by its primary key.
    const applied = ({ organizationId, type, from, to }: InboxFilter, after?: InboxPlace) =>
      sql<ScannedRow>`
        with scanned as materialized (
          select key.* from organizations
          cross join lateral (
            select organization_id, event_id, received_at from inbox_keys
            where organization_id = organizations.id
              and received_at <= least(
                coalesce(${orNull(after?.at)}::timestamptz, 'infinity'), coalesce(${orNull(to)}::timestamptz, 'infinity'))
              and received_at < coalesce(${orNull(to)}::timestamptz, 'infinity')
              and received_at >= coalesce(${orNull(from)}::timestamptz, '-infinity')
              and (${orNull(after?.at)}::timestamptz is null or (received_at, organization_id, event_id)
                < (${orNull(after?.at)}::timestamptz, ${after?.organizationId ?? ""}, ${after?.eventId ?? ""}))
            order by received_at desc, event_id desc limit ${MAX_SCANNED}
          ) key
          where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)}
          order by key.received_at desc, key.organization_id desc, key.event_id desc limit ${MAX_SCANNED}
        )
        select scanned.received_at as at, scanned.organization_id as "organizationId", scanned.event_id as "eventId",
          scanned.received_at as "receivedAt", "isFound", "endpointId", "secretId", type, 'applied' as state, null as reason,
          applied_at as "appliedAt", null as "quarantinedAt", differing
        from scanned
        left join lateral (
          select true as "isFound", endpoint_id as "endpointId", secret_id as "secretId", type, applied_at, differing from inbox
          where organization_id = scanned.organization_id and event_id = scanned.event_id and received_at = scanned.received_at
            and applied_at is not null and (${orNull(type)}::text is null or type = ${orNull(type)})
        ) found on true
        order by scanned.received_at desc, scanned.organization_id desc, scanned.event_id desc`

    return {
      /**
       * Lists events of one state: those that are quarantined by the time of that, those that wait by their receipt, oldest first as they
       * are applied; those that were applied newest first.
       */
      list: Effect.fn("InboxReader.list")(function* (
        state: InboxState,
        filter: InboxFilter,
        limit: number,
        after?: InboxPlace | null,
      ) {
        const place = after ?? undefined
        if (state === "applied") {
          const scanned = yield* applied(filter, place)
          const found = scanned.filter(({ isFound }) => isFound).slice(0, limit)
          const rest = found.length === limit ? scanned.slice(scanned.indexOf(found.at(-1)!) + 1) : []
          const last = rest.length > 0 ? found.at(-1) : scanned.length === MAX_SCANNED ? scanned.at(-1) : undefined
          return { entries: found.map(toEntry), next: last ? toPlace(last.at, last) : null } satisfies InboxPage
        }
        const read = state === "quarantined" ? quarantined : waiting
        const rows = yield* read(filter, limit + 1, place)
        const entries = rows.slice(0, limit)
        const last = rows.length > limit ? entries.at(-1) : undefined
        const at = state === "quarantined" ? last?.quarantinedAt : last?.receivedAt
        return { entries, next: last && at ? toPlace(at, last) : null } satisfies InboxPage
      }, orDieAs("InboxReader.list")),

      /** Counts the events that are quarantined or wait, each up to `COUNT_CAP`. */
      counts: Effect.fn("InboxReader.counts")(function* (organizationId: OrganizationId | undefined) {
        const rows = yield* sql<InboxCounts>`
          select
            (select count(*)::int from (
              select from organizations cross join lateral (
                select from inbox where organization_id = organizations.id and quarantined_at is not null limit ${COUNT_CAP}
              ) each
              where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)} limit ${COUNT_CAP}
            ) quarantined) as quarantined,
            (select count(*)::int from (
              select from organizations cross join lateral (
                select from inbox where organization_id = organizations.id and applied_at is null and quarantined_at is null
                limit ${COUNT_CAP}
              ) each
              where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)} limit ${COUNT_CAP}
            ) waiting) as waiting,
            (select min(received_at) from organizations cross join lateral (
              select received_at from inbox where organization_id = organizations.id and applied_at is null and quarantined_at is null
              order by received_at limit 1
            ) each
            where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)}) as "waitingSince"`
        return rows[0]!
      }, orDieAs("InboxReader.counts")),

      /** Groups the first quarantined events, up to `COUNT_CAP`, by type and reason; the largest group comes first. */
      reasons: Effect.fn("InboxReader.reasons")(
        (organizationId: OrganizationId | undefined) => sql<InboxReason>`
          select type, reason, count(*)::int as count, min(quarantined_at) as first, max(quarantined_at) as last from (
            select found.* from organizations cross join lateral (
              select type, reason, quarantined_at from inbox
              where organization_id = organizations.id and quarantined_at is not null
              order by quarantined_at limit ${COUNT_CAP}
            ) found
            where ${orNull(organizationId)}::text is null or organizations.id = ${orNull(organizationId)} limit ${COUNT_CAP}
          ) quarantined
          group by type, reason order by count desc, last desc limit 50`,
        orDieAs("InboxReader.reasons"),
      ),

      /** Counts what partners sent in each hour from one time to another, both full hours, of one organization or of all, as the API counts it. */
      hours: Effect.fn("InboxReader.hours")(
        (from: Timestamp, to: Timestamp, organizationId: OrganizationId | undefined) => sql<InboxHour>`
          select series.hour as at, coalesce(received, 0)::double precision as received,
            coalesce(bad_signatures, 0)::double precision as "badSignatures", coalesce(refused, 0)::double precision as refused
          from generate_series(${from}::timestamptz, ${to}::timestamptz - interval '1 hour', interval '1 hour') series (hour)
          left join (
            select hour, sum(requests) filter (where code = '') as received,
              sum(requests) filter (where code = 'INVALID_SIGNATURE') as bad_signatures,
              sum(requests) filter (where code not in ('', 'INVALID_SIGNATURE')) as refused
            from request_counts
            where hour >= ${from}::timestamptz and hour < ${to}::timestamptz and starts_with(caller_id, 'whe_')
              and (${orNull(organizationId)}::text is null or organization_id = ${orNull(organizationId)})
            group by hour
          ) counted on counted.hour = series.hour
          order by series.hour`,
        orDieAs("InboxReader.hours"),
      ),

      /** Reads what the command of an event refers to, and what became of it; each part is a look-up by a key. */
      outcome: Effect.fn("InboxReader.outcome")(function* (organizationId: OrganizationId, command: InboundCommand) {
        const { stage, programSlug, npi, token } = command satisfies { readonly stage: FunnelStage }
        const rows = yield* sql<InboxOutcome>`
          select program.id as "programId", program.name as "programName",
            (select jsonb_build_object('eventId', event_id, 'countedAt', to_char(counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
              from qualifications
              where organization_id = ${organizationId} and program_id = program.id and stage = ${stage} and npi = ${npi}) as qualification,
            (select created_at from suppressions
              where organization_id = ${organizationId} and program_id = program.id and kind = 'npi' and value = ${npi}) as "suppressedAt",
            (select id from recipients where organization_id = ${organizationId} and token = ${token}) as "recipientId"
          from (select) as one
          left join programs program on program.organization_id = ${organizationId} and slug = ${programSlug}`
        return rows[0]!
      }, orDieAs("InboxReader.outcome")),
    }
  }),
}) {
  static readonly layer = Layer.effect(InboxReader, InboxReader.make)
}

const HOUR_MS = 3_600_000

/** Returns the range of the last full hours and the current one. */
export const lastHours = (now: number, hours: number): { readonly from: Timestamp; readonly to: Timestamp } => {
  const to = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS
  return { from: fromUnixMillis(to - hours * HOUR_MS), to: fromUnixMillis(to) }
}

const toPlace = (at: Timestamp, { organizationId, eventId }: InboxEntry): InboxPlace => ({
  at,
  organizationId,
  eventId,
})

interface ScannedRow extends InboxEntry {
  readonly at: Timestamp
  /** Whether the event is one of the list; if not, the row has nothing of it but its key. */
  readonly isFound: boolean
}

const toEntry = ({ at: _at, isFound: _isFound, ...entry }: ScannedRow): InboxEntry => entry
