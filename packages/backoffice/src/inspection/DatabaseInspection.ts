import { DatabaseService } from "@outreach/postgres/adapter"
import { rightsToChange } from "@outreach/postgres/roles/grantRoles"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { decodeRow, decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** The connection from the server's point of view. */
const decodeConnection = decodeRow({
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

const decodeRole = decodeRow({
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

const InspectedLoad = Schema.Struct({
  version: Schema.String,
  bytes: Schema.Number,
  /** Open connections to this database, and the server's limit for all databases. */
  connections: Schema.Int,
  maxConnections: Schema.Int,
  schema: Schema.NullOr(Schema.String),
  workers: Schema.Int,
})
export type InspectedLoad = typeof InspectedLoad.Type

/** The standbys, as in `synchronous_standby_names` and `pg_stat_replication`. */
const InspectedStandbys = Schema.Struct({
  synchronousStandbys: Schema.String,
  /** Whether commits wait because too few synchronous standbys are connected; null if the role can't see the standbys. */
  commitsWait: Schema.NullOr(Schema.Boolean),
  /** Null if the role can't see them. A `syncState` is `sync`, `quorum`, `potential` or `async`. */
  standbys: Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String, syncState: Schema.String }))),
})

const decodeLoad = decodeRow(InspectedLoad.fields)
const decodeStandbys = decodeRow(InspectedStandbys.fields)
const decodeExists = decodeRow({ exists: Schema.Boolean })
const decodeGranted = decodeRows({ role: Schema.String, kind: Schema.Literals(ROLE_KINDS) })
const decodeClockFaults = decodeRow({ faults: Schema.Array(Schema.String) })

/** Reads the configuration of the database and the connection for operators. */
export class DatabaseInspection extends DatabaseService<DatabaseInspection>()(
  "backoffice/inspection/DatabaseInspection",
  (sql) => {
    /** None for a database without a schema. */
    const readGrantedRoles = Effect.gen(function* () {
      const { exists } = yield* sql`select to_regclass('granted_roles') is not null as exists`.pipe(decodeExists)
      return exists ? yield* sql`select role, kind from granted_roles`.pipe(decodeGranted) : []
    })

    return {
      readConnection: sql`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
      case when ssl then ssl.version end as tls,
      coalesce(inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1', true) as "isLocal",
      extract(epoch from clock_timestamp())::double precision * 1000 as now
    from (select) one left join pg_stat_ssl ssl on pid = pg_backend_pid()`.pipe(decodeConnection),

      /** Reads the times of a wrong server clock. */
      readClockFaults: sql`
    select array(
      select to_char(lower(fault) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' to ' || to_char(upper(fault) at time zone 'UTC', 'YYYY-MM-DD HH24:MI')
      from clock_watch cross join unnest(faults) fault order by fault
    ) as faults`.pipe(
        decodeClockFaults,
        Effect.map(({ faults }) => faults),
      ),

      /** The applied migrations and functions. */
      readSqlFiles: sql`select array(select file from migrations) as files`.pipe(
        decodeRow({ files: Schema.Array(Schema.String) }),
        Effect.map(({ files }) => new Set(files)),
      ),

      /**
       * Reads the role of this connection: its kinds from `ops migrate --grant-to`, its missing rights, such as `update on campaigns`,
       * and its unneeded ones.
       */
      readRole: Effect.gen(function* () {
        const role = yield* sql`
    select role.rolname as name, rolsuper as "isSuperuser", rolcreaterole or rolcreatedb or rolbypassrls as "isPowerful",
      pg_has_role(role.oid, 'pg_monitor', 'usage') as "isMonitor", owned.*
    from pg_roles role cross join lateral (
      select count(*)::int as tables, (count(*) filter (where relowner = role.oid))::int as "ownedTables",
        coalesce(array_agg(relname::text order by relname) filter (where not has_table_privilege(role.oid, pg_class.oid, 'select')), '{}')
          as "unreadableTables"
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    ) owned
    where rolname = current_user`.pipe(decodeRole)
        const granted = yield* readGrantedRoles
        const kinds = granted.filter((each) => each.role === role.name).map(({ kind }) => kind)
        const changes = yield* rightsToChange(kinds.map((kind) => ({ role: role.name, kind }))).pipe(
          Effect.provideService(SqlClient.SqlClient, sql),
        )
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
    select names as "synchronousStandbys",
      -- Names without a number require one standby.
      case when not sees_standbys then null else not recovers and names <> '' and
        (select count(*) from standby where sync_state in ('sync', 'quorum'))
          < coalesce(substring(names from '^ *(?:[A-Za-z]+ *)?([0-9]+) *[(]')::int, 1) end as "commitsWait",
      case when sees_standbys then (
        select coalesce(jsonb_agg(jsonb_build_object('name', name, 'syncState', sync_state) order by name), '[]') from standby) end as standbys
    from server`.pipe(decodeStandbys),

      readLoad: sql`
    select current_setting('server_version') as version, pg_database_size(current_database())::double precision as bytes,
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as "maxConnections",
      (select max(substring(file from '\\d{4}_\\w+')) from migrations) as schema,
      (select count(*)::int from delivery_workers where alive_until > clock_timestamp() and not stopping) as workers`.pipe(
        decodeLoad,
      ),
    }
  },
) {}
