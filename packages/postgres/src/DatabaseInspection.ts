import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "./DatabaseFailure.ts"
import type { GrantedRole } from "./roles/grantRoles.ts"
import { type RoleKind, TABLE_GRANTS, tableRights } from "./roles/grants.ts"

/** The connection as the server sees it. */
export interface InspectedConnection {
  readonly version: string
  /** As `server_version_num`: 180001 for 18.1. */
  readonly versionNumber: number
  /** The version of TLS; null if the connection is not encrypted. */
  readonly tls: string | null
  /** Whether the client is on the server's own machine. */
  readonly isLocal: boolean
  /** The server's clock, in Unix milliseconds. */
  readonly now: number
}

/** The role of this connection. */
export interface InspectedRole {
  readonly name: string
  readonly isSuperuser: boolean
  /** Whether it may create roles or databases, or bypasses row security. */
  readonly isPowerful: boolean
  /** Whether it sees the transactions of other roles. */
  readonly isMonitor: boolean
  /** The tables that it owns, and those that it cannot read, of all. */
  readonly tables: number
  readonly ownedTables: number
  readonly unreadableTables: ReadonlyArray<string>
  /** What connects with it, as `ops migrate --grant-to` was told; empty if it was not. */
  readonly kinds: ReadonlyArray<RoleKind>
  /** Whether the database knows roles for the processes. */
  readonly hasRoles: boolean
  /** The rights of its kinds that it lacks, such as `update on campaigns`. */
  readonly missingRights: ReadonlyArray<string>
}

/** The database's size and load. */
export interface InspectedLoad {
  readonly version: string
  readonly bytes: number
  /** Open connections to this database, and how many the server allows for all databases. */
  readonly connections: number
  readonly maxConnections: number
  /** The name of the last migration. */
  readonly schema: string | null
  readonly workers: number
}

/** Reads how the database and the connection to it are set up; operators ask. */
export class DatabaseInspection extends Context.Service<DatabaseInspection>()("postgres/DatabaseInspection", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Of an older schema none. */
    const readGrantedRoles = Effect.gen(function* () {
      const [table] = yield* sql<{ exists: boolean }>`select to_regclass('granted_roles') is not null as exists`
      return table!.exists ? yield* sql<GrantedRole>`select role, kind from granted_roles` : []
    })

    const readMissingRights = Effect.fnUntraced(function* (kind: RoleKind) {
      const needed = kind === "reader" ? [] : neededRights(kind)
      const rows = yield* sql<{ missing: string }>`
        select needed.right || ' on ' || relation as missing
        from unnest(${needed.map(({ table }) => table)}::text[], ${needed.map(({ right }) => right)}::text[]) as needed (relation, "right")
        where not case when to_regclass(relation) is null then true
          when needed.right = 'delete' then has_table_privilege(relation, needed.right)
          else has_any_column_privilege(relation, needed.right) end`
      return rows.map(({ missing }) => missing)
    })

    return {
      readConnection: sql<InspectedConnection>`
        select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
          case when ssl then ssl.version end as tls,
          coalesce(inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1', true) as "isLocal",
          extract(epoch from clock_timestamp())::double precision * 1000 as now
        from (select) one left join pg_stat_ssl ssl on pid = pg_backend_pid()`.pipe(
        Effect.map((rows) => rows[0]!),
        orDieAs("DatabaseInspection.readConnection"),
      ),

      readRole: Effect.gen(function* () {
        const rows = yield* sql<Omit<InspectedRole, "kinds" | "hasRoles" | "missingRights">>`
        select role.rolname as name, rolsuper as "isSuperuser", rolcreaterole or rolcreatedb or rolbypassrls as "isPowerful",
          pg_has_role(role.oid, 'pg_monitor', 'usage') as "isMonitor", owned.*
        from pg_roles role cross join lateral (
          select count(*)::int as tables, (count(*) filter (where relowner = role.oid))::int as "ownedTables",
            coalesce(array_agg(relname::text order by relname) filter (where not has_table_privilege(role.oid, pg_class.oid, 'select')), '{}')
              as "unreadableTables"
          from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        ) owned
        where rolname = current_user`
        const granted = yield* readGrantedRoles
        const kinds = granted.filter(({ role }) => role === rows[0]!.name).map(({ kind }) => kind)
        const missingRights = (yield* Effect.forEach(kinds, readMissingRights)).flat()
        return { ...rows[0]!, kinds, hasRoles: granted.length > 0, missingRights } satisfies InspectedRole
      }).pipe(orDieAs("DatabaseInspection.readRole")),

      readLoad: sql<InspectedLoad>`
        select current_setting('server_version') as version, pg_database_size(current_database())::double precision as bytes,
          (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
          current_setting('max_connections')::int as "maxConnections",
          (select max(substring(file from '\\d{4}_\\w+')) from migrations) as schema,
          (select count(*)::int from delivery_workers where alive_until > clock_timestamp() and not stopping) as workers`.pipe(
        Effect.map((rows) => rows[0]!),
        orDieAs("DatabaseInspection.readLoad"),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(DatabaseInspection, DatabaseInspection.make)
}

/** The rights of a kind of role, each on a table or a part of it. */
const neededRights = (kind: Exclude<RoleKind, "reader">) =>
  Object.keys(TABLE_GRANTS).flatMap((table) =>
    tableRights(table, kind).map(({ privilege }) => ({ table, right: privilege })),
  )
