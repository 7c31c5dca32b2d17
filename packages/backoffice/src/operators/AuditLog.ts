import type { OrganizationId } from "@outreach/domain/Identifier"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The recorded arguments of a command by their names; null for an argument whose value is withheld. */
export type AuditedArguments = Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | null>>

/** A command that begins. The database adds the time and the role of the session. */
export interface BegunCommand {
  /** The command's words, such as `campaigns cancel`. */
  readonly command: string
  readonly arguments: AuditedArguments
  /** The name in `OPS_OPERATOR`; null if it is not set. */
  readonly operator: string | null
  readonly osUser: string
  readonly host: string
  /** The organization that it concerns, whatever its arguments name: that of an operator of one organization. Default none. */
  readonly concerns?: OrganizationId | null
}

/** How a command ended. A failed command has the error's code. */
export interface CommandEnd {
  readonly result: "succeeded" | "failed" | "interrupted"
  readonly code: string | null
}

/** How a command in the log stands. */
export const AUDIT_RESULTS = ["succeeded", "failed", "interrupted", "unfinished"] as const

/** A command in the log. An unfinished command is still under way, or was killed. */
export interface AuditEntry extends Omit<BegunCommand, "concerns"> {
  readonly id: string
  readonly begunAt: Timestamp
  readonly role: string
  readonly organizations: ReadonlyArray<OrganizationId>
  readonly result: (typeof AUDIT_RESULTS)[number]
  readonly code: string | null
  readonly endedAt: Timestamp | null
}

/** An entry must match every given condition. */
export interface AuditFilter {
  readonly organizationId?: OrganizationId | undefined
  /** A command or the first word of commands: `campaigns cancel`, `campaigns`. */
  readonly command?: string | undefined
  /** The name in `OPS_OPERATOR`, the operating system's user or the database role. */
  readonly operator?: string | undefined
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
  readonly result?: AuditEntry["result"] | undefined
  /** Only those that began earlier than this entry. */
  readonly before?: string | undefined
}

/** Above every id. */
const MAX_ID = "~"

/** How far the time of an id and that of its entry may be apart, in milliseconds. */
const ID_MARGIN_MS = 60_000

/** Returns the lowest id that is made so long after a time: ids sort by creation. */
const idAt = (at: Timestamp | undefined, offsetMs: number): string | undefined =>
  at && `aud_${(toUnixMillis(at) + offsetMs).toString(16).padStart(12, "0")}`

/** How many commands one page looks at. */
const MAX_PAGE_SCAN = 5000

const ID = /^[a-z]{3}_[0-9a-f]{32}$/

/** Records the commands of operators. Entries are only ever added. */
export class AuditLog extends Context.Service<AuditLog>()("backoffice/operators/AuditLog", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      id, begun_at as "begunAt", command, arguments, operator, os_user as "osUser", role, host, organizations,
      coalesce(result, 'unfinished') as result, code, ended_at as "endedAt"`)
    const isMeant = (filter: AuditFilter) =>
      sql.and([
        sql`true`,
        ...(filter.organizationId === undefined ? [] : [sql`${filter.organizationId} = any (organizations)`]),
        ...(filter.command === undefined
          ? []
          : [sql`(command = ${filter.command} or starts_with(command, ${`${filter.command} `}))`]),
        ...(filter.operator === undefined ? [] : [sql`${filter.operator} in (operator, os_user, role)`]),
        ...(filter.from === undefined ? [] : [sql`begun_at >= ${filter.from}`]),
        ...(filter.to === undefined ? [] : [sql`begun_at < ${filter.to}`]),
        ...(filter.result === undefined ? [] : [sql`coalesce(result, 'unfinished') = ${filter.result}`]),
        ...(filter.before === undefined ? [] : [sql`id < ${filter.before}`]),
      ])

    return {
      /** Reports whether the database has the log; it lacks it before its first migration. */
      exists: sql<{ exists: boolean }>`select to_regclass('audit_results') is not null as exists`.pipe(
        Effect.map(([row]) => row!.exists),
        orDieAs("AuditLog.exists"),
      ),

      /** Records that a command begins, and which organizations its arguments concern. Returns the entry's id. */
      begin: Effect.fn("AuditLog.begin")(function* (begun: BegunCommand) {
        const ids = Object.values(begun.arguments)
          .flat()
          .filter((value): value is string => typeof value === "string" && ID.test(value))
        const [row] = yield* sql<{ id: string }>`
          insert into audit_log (operator, os_user, host, command, arguments, organizations)
          values (${begun.operator}, ${begun.osUser}, ${begun.host}, ${begun.command}, ${JSON.stringify(begun.arguments)}::text::json,
            array(
              select distinct organization_id from (
                select id as organization_id from organizations where id = any (${ids}::text[] || ${begun.concerns ?? null}::text)
                union all select organization_id from programs where id = any (${ids}::text[])
                union all select organization_id from campaigns where id = any (${ids}::text[])
                union all select organization_id from webhook_endpoints where id = any (${ids}::text[])
                union all select organization_id from api_keys where id = any (${ids}::text[])
                union all select organization_id from signing_secrets where id = any (${ids}::text[])
                union all
                select organization.id from organizations organization
                where exists (select from recipients where organization_id = organization.id and id = any (${ids}::text[]))
                union all select organization_id from dead_letters where id = any (${ids}::text[])
                union all
                select coalesce(job.organization_id, endpoint.organization_id)
                from replay_jobs job left join webhook_endpoints endpoint on endpoint.id = job.endpoint_id
                where job.id = any (${ids}::text[])
              ) owner where organization_id is not null order by 1
            ))
          returning id`
        return row!.id
      }, orDieAs("AuditLog.begin")),

      /** Records how a command ended. */
      end: Effect.fn("AuditLog.end")(function* (id: string, { result, code }: CommandEnd) {
        yield* sql`insert into audit_results (command_id, result, code) values (${id}, ${result}, ${code})`
      }, orDieAs("AuditLog.end")),

      /** Lists commands, newest first. */
      list: Effect.fn("AuditLog.list")(
        (filter: AuditFilter, limit: number) => sql<AuditEntry>`
          select ${columns} from audit_log left join audit_results on command_id = id
          where ${isMeant(filter)} order by id desc limit ${limit}`,
        orDieAs("AuditLog.list"),
      ),

      /**
       * Lists a page of commands, newest first, and where the list goes on: before that id; null at its end. It looks at some thousand
       * commands at most, so a page of a rare filter may be short, or empty, although the list goes on.
       */
      page: Effect.fn("AuditLog.page")(function* (filter: AuditFilter, limit: number) {
        const rows = yield* sql<AuditEntry & { lookedTo: string | null }>`
          with looked as materialized (
            select * from audit_log
            where id < ${filter.before ?? MAX_ID} and id >= ${idAt(filter.from, -ID_MARGIN_MS) ?? ""}
              and id < ${idAt(filter.to, ID_MARGIN_MS) ?? MAX_ID}
            order by id desc limit ${MAX_PAGE_SCAN}::int
          )
          select found.*, "lookedTo" from (
            select case when count(*) = ${MAX_PAGE_SCAN}::int then min(id) end as "lookedTo" from looked
          ) scan
          left join (
            select ${columns} from looked
            left join lateral (select * from audit_results where command_id = id offset 0) ended on true
            where ${isMeant(filter)} order by id desc limit ${limit + 1}::int
          ) found on true
          order by id desc`
        const found = rows.filter(({ id }) => id !== null).map(({ lookedTo: _, ...entry }) => entry)
        const next = found.length > limit ? found[limit - 1]!.id : rows[0]!.lookedTo
        return { entries: found.slice(0, limit), next }
      }, orDieAs("AuditLog.page")),
    }
  }),
}) {
  static readonly layer = Layer.effect(AuditLog, AuditLog.make)
}
