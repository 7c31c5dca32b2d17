import { COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointId, type OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { InboundCommand } from "@outreach/domain/inbox/InboundStep"
import { InboxEntry, type InboxState, SIGNATURE_FAULTS } from "@outreach/domain/inbox/InboxRepository"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { inboxColumns } from "@outreach/postgres/inbox/inboxRows"
import { allOf, decodeRows, equal, keyset, only, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema, Struct } from "effect"
import { consistentRead } from "../consistentRead.ts"
import { type FilterOf, field, filterBy, timeRange } from "../operations/Field.ts"

export const inboxFilters = {
  organizationId: filterBy.organization,
  type: field(Schema.String, "Type", { kind: "choice", all: "All" }),
  reason: field(Schema.String, "Reason", { size: 30, hint: "Of quarantined events, as shown in the list" }),
  ...timeRange("Received from", "Received before"),
}

type InboxFilter = FilterOf<typeof inboxFilters>

export const InboxCursor = Schema.Struct({
  /** When the event was quarantined, for a list of quarantined events; otherwise when it was received. */
  at: Timestamp,
  ...Struct.pick(InboxEntry.fields, ["organizationId", "eventId"]),
})
export type InboxCursor = typeof InboxCursor.Type

/** The number of waiting and quarantined events, up to `COUNT_CAP`. */
const Counts = Schema.Struct({
  quarantined: Schema.Int,
  waiting: Schema.Int,
  /** When the first waiting event was received. */
  waitingSince: Schema.NullOr(Timestamp),
})
const counts = rowsOf(Counts)

const decodeReasons = decodeRows({
  ...{ type: Schema.String, reason: Schema.String, count: Schema.Int },
  ...{ first: Timestamp, last: Timestamp },
})

const Qualification = Schema.Struct({ eventId: Schema.String, countedAt: Timestamp })

/** The references of an event's command, and the rows written when it was applied. */
const Outcome = Schema.Struct({
  programId: Schema.NullOr(ProgramId),
  programName: Schema.NullOr(Schema.String),
  /** The clinician's qualification at this stage, with the event that counted it: the clinician's first. */
  qualification: Schema.NullOr(Qualification),
  /** The time since which the clinician's NPI is suppressed in the program. */
  suppressedAt: Schema.NullOr(Timestamp),
  /** The recipient of the event's token. */
  recipientId: Schema.NullOr(RecipientId),
})
const outcomes = rowsOf(Outcome)

/** Maximum number of rows about rejected signatures. */
const MAX_REJECTIONS = 1000

/** Number of received events that one page of applied ones reads, including those of another type or state. */
const MAX_SCANNED = 500

const decodeListed = decodeRows({ ...InboxEntry.fields, at: Timestamp })
const cursors = rowsOf(InboxCursor, { at: "received_at" })

/** The events that aren't applied: the condition of each state, and its time with an index. */
const PENDING = {
  quarantined: { condition: "quarantined_at is not null", time: "quarantined_at" },
  waiting: { condition: "applied_at is null and quarantined_at is null", time: "received_at" },
} as const
const orderBy = (time: string, direction: "asc" | "desc") =>
  keyset({ at: time, organizationId: "organization_id", eventId: "event_id" }, direction)
const appliedOrder = orderBy("received_at", "desc")

const rejectionRows = rowsOf(
  Schema.Struct({
    endpointId: EndpointId,
    reason: Schema.Literals(Struct.keys(SIGNATURE_FAULTS)),
    count: Schema.Int,
    firstAt: Timestamp,
    lastAt: Timestamp,
  }),
)

/** Reads partners' events: lists and counts, each from a range of an index of each organization. */
export const InboxReader = reader("InboxReader", (sql) => {
  const isOf = (organizationId: OrganizationId | undefined) => equal({ "organizations.id": organizationId })

  const listPending = Effect.fnUntraced(function* (
    state: keyof typeof PENDING,
    { organizationId, type, reason, from, to }: InboxFilter,
    limit: number,
    after: InboxCursor | undefined,
  ) {
    const time = sql.literal(PENDING[state].time)
    const order = orderBy(PENDING[state].time, "asc")
    const isMeant = allOf(
      sql.literal(PENDING[state].condition),
      after && sql`${time} >= ${after.at}`,
      order.after(after),
      equal({ type, reason: state === "quarantined" ? reason : undefined }),
      from && sql`received_at >= ${from}`,
      to && sql`received_at < ${to}`,
    )
    const rows = yield* sql`
      select found.* from organizations cross join lateral (
        select ${inboxColumns}, ${time} as at from inbox where organization_id = organizations.id and ${isMeant}
        order by ${time}, event_id limit ${limit + 1}
      ) found
      where ${isOf(organizationId)}
      order by at, "organizationId", "eventId" limit ${limit + 1}`.pipe(decodeListed)
    return order.page(rows, limit)
  })

  // The newest keys of all organizations, then their events by primary key. Both as of one moment, so that no page omits an event.
  const listApplied = Effect.fnUntraced(function* (
    { organizationId, type, from, to }: InboxFilter,
    limit: number,
    after: InboxCursor | undefined,
  ) {
    const isMeant = allOf(
      after && sql`received_at <= ${after.at}`,
      appliedOrder.after(after),
      from && sql`received_at >= ${from}`,
      to && sql`received_at < ${to}`,
    )
    const scanned = sql`
      select key.* from organizations cross join lateral (
        select organization_id, event_id, received_at from inbox_keys where organization_id = organizations.id and ${isMeant}
        order by received_at desc, event_id desc limit ${MAX_SCANNED}
      ) key
      where ${isOf(organizationId)}
      order by ${appliedOrder.order} limit ${MAX_SCANNED}`
    const [last] = yield* sql`
      select ${cursors.columns} from (${scanned}) scanned
      order by ${appliedOrder.order} offset ${MAX_SCANNED - 1}`.pipe(cursors.decode)
    const rows = yield* sql`
      with scanned as materialized (${scanned})
      select found.*, received_at as at from scanned cross join lateral (
        select ${inboxColumns} from inbox
        where organization_id = scanned.organization_id and event_id = scanned.event_id and received_at = scanned.received_at
          and applied_at is not null and ${equal({ type })}
      ) found
      order by ${appliedOrder.order} limit ${limit + 1}`.pipe(decodeListed)
    return appliedOrder.page(rows, limit, last)
  }, consistentRead)

  const count = (state: keyof typeof PENDING, organizationId: OrganizationId | undefined) => sql`(
    select count(*)::int from (
      select from organizations cross join lateral (
        select from inbox where organization_id = organizations.id and ${sql.literal(PENDING[state].condition)} limit ${COUNT_CAP}
      ) each
      where ${isOf(organizationId)} limit ${COUNT_CAP}
    ) counted)`

  return {
    /**
     * Lists events of one state: quarantined ones by that time, waiting ones by receipt and oldest first, as they
     * are applied, and applied ones newest first. `next` is null at the end of the list; a page may be short or empty before the end.
     */
    list: (state: InboxState, filter: InboxFilter, limit: number, after?: InboxCursor | null) =>
      state === "applied"
        ? listApplied(filter, limit, after ?? undefined)
        : listPending(state, filter, limit, after ?? undefined),

    /** Lists the numbers of webhooks without a valid signature by endpoint and reason, newest first. */
    rejections: (organizationId: OrganizationId | undefined) =>
      sql`
        select ${rejectionRows.columns} from signature_rejections join webhook_endpoints endpoint on endpoint.id = endpoint_id
        where ${equal({ "endpoint.organization_id": organizationId })}
        order by last_at desc, endpoint_id, reason limit ${MAX_REJECTIONS}`.pipe(rejectionRows.decode),

    /** Counts the quarantined and the waiting events, each up to `COUNT_CAP`. */
    counts: (organizationId: OrganizationId | undefined) =>
      sql`
        select ${counts.columns} from (
          select ${count("quarantined", organizationId)} as quarantined, ${count("waiting", organizationId)} as waiting, (
            select min(received_at) from organizations cross join lateral (
              select received_at from inbox where organization_id = organizations.id and ${sql.literal(PENDING.waiting.condition)}
              order by received_at limit 1
            ) each
            where ${isOf(organizationId)}
          ) as waiting_since
        ) counted`.pipe(counts.decode, only),

    /** Groups the first quarantined events, up to `COUNT_CAP`, by type and reason; the largest group comes first. */
    reasons: (organizationId: OrganizationId | undefined) =>
      sql`
        select type, reason, count(*)::int as count, min(quarantined_at) as first, max(quarantined_at) as last from (
          select found.* from organizations cross join lateral (
            select type, reason, quarantined_at from inbox
            where organization_id = organizations.id and ${sql.literal(PENDING.quarantined.condition)}
            order by quarantined_at limit ${COUNT_CAP}
          ) found
          where ${isOf(organizationId)} limit ${COUNT_CAP}
        ) quarantined
        group by type, reason order by count desc, last desc limit 50`.pipe(decodeReasons),

    /** Reads the references of an event's command, and its written rows, each by a key. */
    outcome: (organizationId: OrganizationId, { stage, programSlug, npi, token }: InboundCommand) =>
      sql`
        select ${outcomes.columns} from (
          select program.id as program_id, program.name as program_name, (
            select ${sql.literal(rowsOf(Qualification).json)} from qualifications
            where organization_id = ${organizationId} and program_id = program.id and stage = ${stage} and npi = ${npi}
          ) as qualification, (
            select created_at from suppressions
            where organization_id = ${organizationId} and program_id = program.id and kind = 'npi' and value = ${npi}
          ) as suppressed_at, (
            select recipient_id from recipient_keys where organization_id = ${organizationId} and token = ${token}
          ) as recipient_id
          from (select) as one
          left join programs program on program.organization_id = ${organizationId} and slug = ${programSlug}
        ) written`.pipe(outcomes.decode, only),
  }
})
