import { ErasureId, isIdentifier, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import { reader } from "@outreach/postgres/adapter"
import { allOf, decodeRows, decodeValue, equal, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { choice, type FilterOf, field, filterBy, timeRange } from "../operations/Field.ts"
import type { Direction } from "../operations/List.ts"
import { ObjectFinder } from "./ObjectFinder.ts"

/** A command's recorded arguments by name; null for a withheld value. */
const AuditedArguments = Schema.Record(
  Schema.String,
  Schema.NullOr(Schema.Union([Schema.String, Schema.Number, Schema.Boolean, Schema.Array(Schema.String)])),
)

/** The start of a command. The database adds the time and the session's role. */
export interface BegunCommand extends Pick<AuditEntry, "command" | "arguments" | "operator" | "osUser" | "host"> {
  /** The organization, regardless of the arguments: that of an operator of one organization. Default none. */
  readonly concerns?: OrganizationId | null
  /** Identifies the submitted form, which can start only once. Default none. */
  readonly submission?: string | undefined
}

/** A form with the same id has already started a command. */
export class SubmittedAlready extends Schema.TaggedError<SubmittedAlready>()("SubmittedAlready", {}) {}

/** The result of a command. A failed command has the error's code. */
export interface CommandEnd {
  readonly result: "succeeded" | "failed" | "interrupted"
  readonly code: string | null
}

const AUDIT_RESULTS = ["succeeded", "failed", "interrupted", "unfinished"] as const

/** A command in the log. An unfinished command is running or was killed. */
const AuditEntry = Schema.Struct({
  id: Schema.String,
  begunAt: Timestamp,
  /** The command's words, such as `campaigns cancel`. */
  command: Schema.String,
  arguments: AuditedArguments,
  /** The name in `OPS_OPERATOR`; null if it is not set. */
  operator: Schema.NullOr(Schema.String),
  osUser: Schema.String,
  role: Schema.String,
  host: Schema.String,
  organizations: Schema.Array(OrganizationId),
  result: Schema.Literals(AUDIT_RESULTS),
  code: Schema.NullOr(Schema.String),
  endedAt: Schema.NullOr(Timestamp),
  /** The erasure that the command started or finished. */
  erasureId: Schema.NullOr(ErasureId),
})
export type AuditEntry = typeof AuditEntry.Type

/** An id of this service or of a partner's event. */
const ID = /^[a-z]{3}_[0-9a-f]+$/
const ObjectId = textSchema("an id, such as cmp_…", (text) => (ID.test(text) ? text : undefined))

export const auditFilters = {
  organizationId: filterBy.organization,
  objectId: field(ObjectId, "Id", { size: 40, hint: "Any id in a command's arguments", example: "cmp_…" }),
  command: field(Schema.String, "Command", {
    placeholder: "campaigns pause",
    hint: "A command or its first word",
    example: "campaigns",
  }),
  operator: field(Schema.String, "Operator", { hint: "A name, a system user or a database role" }),
  result: choice("Result", AUDIT_RESULTS, { all: "All" }),
  ...timeRange("From", "Before"),
}

type AuditFilter = FilterOf<typeof auditFilters>

const MAX_ID = "~"

/** Maximum difference between the time of an id and of its entry, in milliseconds. */
const ID_MARGIN_MS = 60_000

/** Returns the lowest id of a time plus a duration: ids sort by creation. */
const idAt = (at: Timestamp | undefined, offsetMs: number): string | undefined =>
  at && `aud_${(toUnixMillis(at) + offsetMs).toString(16).padStart(12, "0")}`

const MAX_PAGE_SCAN = 5000

const { columns, decode } = rowsOf(AuditEntry, {
  result: "coalesce(result, 'unfinished')",
  erasureId: `case when command = 'clinicians erase' then (
    select min(erasures.id) from erasures where commands @> array[audit_log.id]) end`,
})
const decodeIds = decodeRows({ id: Schema.String })
const decodeExists = decodeValue({ exists: Schema.Boolean })

/** Records operators' commands. Entries are never changed. */
export const AuditLog = reader("AuditLog", function* (sql) {
  const finder = yield* ObjectFinder
  /** The entries; for one object by its index, even if the planner expects few, and for an erasure by its certificate. */
  const entriesOf = ({ objectId }: AuditFilter) =>
    objectId === undefined
      ? sql`audit_log`
      : objectId.startsWith("ers_")
        ? sql`(
          select audit_log.* from erasures join audit_log on audit_log.id = any (commands)
          where organization_id in (select id from organizations) and erasures.id = ${objectId}) audit_log`
        : sql`(select * from audit_log where objects @> array[${objectId}::text] offset 0) audit_log`

  const isMeant = ({ organizationId, command, operator, from, to, result }: AuditFilter) =>
    allOf(
      organizationId && sql`${organizationId} = any (organizations)`,
      command === undefined ? undefined : sql`(command = ${command} or starts_with(command, ${`${command} `}))`,
      operator === undefined ? undefined : sql`${operator} in (operator, os_user, role)`,
      from && sql`begun_at >= ${from}`,
      to && sql`begun_at < ${to}`,
      equal({ "coalesce(result, 'unfinished')": result }),
    )

  return {
    /** Reports whether the log exists, which isn't so before the first migration. */
    exists: sql`select to_regclass('audit_results') is not null as exists`.pipe(decodeExists),

    /** Records the start of a command, and the organizations of its arguments. Returns the entry's id. */
    begin: Effect.fnUntraced(function* (begun: BegunCommand) {
      const given = Object.values(begun.arguments).flat()
      const ids = [...new Set(given.filter((value): value is string => typeof value === "string" && ID.test(value)))]
      // Partners choose the ids of their events, so an event's id may be another partner's.
      const named = yield* finder.find(
        ids.filter((id) => isIdentifier(id) && !id.startsWith("evt_")),
        null,
      )
      const owners = new Set([begun.concerns ?? null, ...named.map(({ organizationId }) => organizationId)])
      owners.delete(null)
      const [entry] = yield* sql`
        insert into audit_log (submission, operator, os_user, host, command, arguments, objects, organizations)
        values (${begun.submission ?? null}, ${begun.operator}, ${begun.osUser}, ${begun.host}, ${begun.command},
          ${JSON.stringify(begun.arguments)}::text::json, ${ids}::text[], ${[...owners].sort()}::text[])
        on conflict (submission) do nothing
        returning id`.pipe(decodeIds)
      return entry === undefined ? yield* new SubmittedAlready() : entry.id
    }),

    end: (id: string, { result, code }: CommandEnd) =>
      Effect.asVoid(sql`insert into audit_results (command_id, result, code) values (${id}, ${result}, ${code})`),

    /**
     * Lists a page of commands, by default newest first, and the one after which the list continues; null at its end. It reads some thousand
     * commands at most, so a page with a rare filter may be short or empty before the end. An object's commands are found by an index.
     */
    page: Effect.fnUntraced(function* (
      filter: AuditFilter,
      limit: number,
      after: Pick<AuditEntry, "id"> | null = null,
      direction: Direction = "desc",
    ) {
      const order = keyset({ id: "id" }, direction)
      const inTime = sql`id < ${idAt(filter.to, ID_MARGIN_MS) ?? MAX_ID} and id >= ${idAt(filter.from, -ID_MARGIN_MS) ?? ""}`
      const inRange = allOf(order.after(after), inTime)
      const end = sql`
        select id from audit_log where ${inRange}
        order by ${order.order} offset ${MAX_PAGE_SCAN - 1} limit 1`.pipe(decodeIds)
      const [last] = filter.objectId === undefined ? yield* end : []
      const rows = yield* sql`
        select ${columns} from ${entriesOf(filter)}
        left join lateral (select * from audit_results where command_id = id offset 0) ended on true
        where ${inRange} and ${order.upTo(last)} and ${isMeant(filter)}
        order by ${order.order} limit ${limit + 1}`.pipe(decode)
      return order.page(rows, limit, last)
    }),
  }
})
