import { reader } from "@outreach/postgres/adapter"
import { IS_CLOCK_DOUBTED } from "@outreach/postgres/operators/FactReader"
import { rightsToChange } from "@outreach/postgres/roles/grantRoles"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { decodeColumn, decodeRows, decodeValue, only, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

/** The connection from the server's point of view. */
const Connection = Schema.Struct({
  version: Schema.String,
  /** As `server_version_num`: 180001 for 18.1. */
  versionNumber: Schema.Int,
  /** The TLS version; null for an unencrypted connection. */
  tls: Schema.NullOr(Schema.String),
  /** Whether the client is on the server's machine. */
  isLocal: Schema.Boolean,
  /** The server's clock, in Unix milliseconds. */
  now: Schema.Number,
})
const connection = rowsOf(Connection, {
  version: "current_setting('server_version')",
  versionNumber: "current_setting('server_version_num')::int",
  tls: "case when ssl then ssl.version end",
  isLocal: "coalesce(inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1', true)",
  now: "extract(epoch from clock_timestamp())::double precision * 1000",
})

const Role = Schema.Struct({
  name: Schema.String,
  isSuperuser: Schema.Boolean,
  /** Whether it may create roles or databases, or bypasses row security. */
  isPowerful: Schema.Boolean,
  /** Whether it sees the transactions of other roles. */
  isMonitor: Schema.Boolean,
  /** The tables that it owns, and those that it can't read. */
  tables: Schema.Int,
  ownedTables: Schema.Int,
  unreadableTables: Schema.Array(Schema.String),
})
const roles = rowsOf(Role, {
  name: "rolname",
  isSuperuser: "rolsuper",
  isPowerful: "rolcreaterole or rolcreatedb or rolbypassrls",
  isMonitor: "pg_has_role(role.oid, 'pg_monitor', 'usage')",
})

const Load = Schema.Struct({
  version: Schema.String,
  bytes: Schema.Number,
  /** Open connections to this database, and the server's limit for all databases. */
  connections: Schema.Int,
  maxConnections: Schema.Int,
  schema: Schema.NullOr(Schema.String),
})
const load = rowsOf(Load, {
  version: "current_setting('server_version')",
  bytes: "pg_database_size(current_database())::double precision",
  connections: "(select count(*)::int from pg_stat_activity where datname = current_database())",
  maxConnections: "current_setting('max_connections')::int",
  schema: "(select max(substring(file from '\\d{4}_\\w+')) from migrations)",
})

/** The standbys, as in `synchronous_standby_names` and `pg_stat_replication`. */
const Standbys = Schema.Struct({
  synchronousStandbys: Schema.String,
  /** Whether commits wait because too few synchronous standbys are connected; null if the role can't see the standbys. */
  commitsWait: Schema.NullOr(Schema.Boolean),
  /** Null if the role can't see them. A `syncState` is `sync`, `quorum`, `potential` or `async`. */
  standbys: Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String, syncState: Schema.String }))),
})
export type Standbys = typeof Standbys.Type
const standbys = rowsOf(Standbys, {
  synchronousStandbys: "names",
  // Names without a number require one standby.
  commitsWait: `case when not sees_standbys then null else not recovers and names <> '' and
    (select count(*) from standby where sync_state in ('sync', 'quorum'))
      < coalesce(substring(names from '^ *(?:[A-Za-z]+ *)?([0-9]+) *[(]')::int, 1) end`,
  standbys: `case when sees_standbys then (
    select coalesce(jsonb_agg(jsonb_build_object('name', name, 'syncState', sync_state) order by name), '[]') from standby) end`,
})

const Clock = Schema.Struct({
  /** Why a worker currently doesn't trust the database's clock; null if all do. */
  doubt: Schema.NullOr(Schema.String),
  /** The times at which it was wrong. */
  faults: Schema.Array(Schema.String),
})
const clock = rowsOf(Clock, {
  doubt: `(select doubt from clock_watch where ${IS_CLOCK_DOUBTED})`,
  faults: `array(
    select to_char(lower(fault) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' to ' || to_char(upper(fault) at time zone 'UTC', 'YYYY-MM-DD HH24:MI')
    from clock_watch cross join unnest(faults) fault order by fault)`,
})

const decodeExists = decodeValue({ exists: Schema.Boolean })
const decodeFiles = decodeColumn({ file: Schema.String })
const decodeGranted = decodeRows({ role: Schema.String, kind: Schema.Literals(ROLE_KINDS) })

/** Reads the configuration of the database and the connection for operators. */
export const DatabaseInspection = reader("DatabaseInspection", (sql) => ({
  readConnection: sql`
      select ${connection.columns}
      from (select) one left join pg_stat_ssl ssl on pid = pg_backend_pid()`.pipe(connection.decode, only),

  readClock: sql`select ${clock.columns}`.pipe(clock.decode, only),

  /** The applied migrations and functions. */
  readSqlFiles: sql`select file from migrations`.pipe(
    decodeFiles,
    Effect.map((files) => new Set(files)),
  ),

  /**
   * Reads the role of this connection: its kinds from `ops migrate --grant-to`, its missing rights, such as `update on campaigns`,
   * and its unneeded ones.
   */
  readRole: Effect.gen(function* () {
    const role = yield* sql`
        select ${roles.columns} from pg_roles role cross join lateral (
          select count(*)::int as tables, (count(*) filter (where relowner = role.oid))::int as owned_tables,
            coalesce(array_agg(relname::text order by relname) filter (where not has_table_privilege(role.oid, pg_class.oid, 'select')), '{}')
              as unreadable_tables
          from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        ) owned
        where rolname = current_user`.pipe(roles.decode, only)
    // A database without a schema has no granted roles.
    const isMigrated = yield* sql`select to_regclass('granted_roles') is not null as exists`.pipe(decodeExists)
    const granted = isMigrated ? yield* sql`select role, kind from granted_roles`.pipe(decodeGranted) : []
    const kinds = granted.filter((each) => each.role === role.name).map(({ kind }) => kind)
    const changes = yield* rightsToChange(kinds.map((kind) => ({ role: role.name, kind })))
    const rights = (verb: string) =>
      changes.flatMap((statement) => new RegExp(`^${verb} (.+) (?:to|from) (?!public$)`).exec(statement)?.[1] ?? [])
    return {
      ...role,
      kinds,
      hasRoles: granted.length > 0,
      missingRights: rights("grant"),
      needlessRights: rights("revoke"),
    }
  }),

  readStandbys: sql`
      with server as materialized (
        select pg_is_in_recovery() as recovers, pg_has_role('pg_read_all_stats', 'usage') as sees_standbys,
          current_setting('synchronous_standby_names') as names
      ), standby as materialized (
        select application_name as name, sync_state from pg_stat_replication where (select sees_standbys from server)
      )
      select ${standbys.columns} from server`.pipe(standbys.decode, only),

  readLoad: sql`select ${load.columns}`.pipe(load.decode, only),
}))
