import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { PARTITIONED_TABLES } from "@outreach/postgres/Partitions"
import type { GrantedRole } from "@outreach/postgres/roles/grantRoles"
import { type RoleKind, TABLE_GRANTS, tableRights } from "@outreach/postgres/roles/grants"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

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

/** A server, its standbys, and the clocks of the organizations. */
export interface InspectedServer {
  readonly version: string
  readonly role: "primary" | "standby"
  /** Null if the server does not tell. */
  readonly timeline: number | null
  /** How long ago a standby replayed its last commit; null on a primary. */
  readonly replayedSecondsAgo: number | null
  /** As `synchronous_standby_names` names them. */
  readonly synchronousStandbys: string
  /** Whether too few synchronous standbys are there for commits to end; null if the role may not see the standbys. */
  readonly commitsWait: boolean | null
  /** Null if the role may not see them. */
  readonly standbys: ReadonlyArray<InspectedStandby> | null
  /** On which timelines the clocks were last advanced, most clocks first. */
  readonly clockTimelines: ReadonlyArray<{
    /** Null of clocks that a server advanced which does not tell its timeline. */
    readonly timeline: number | null
    readonly isThisServers: boolean
    readonly organizations: number
  }>
  /** The clocks that are ahead of the server's, furthest first; at most `MAX_CLOCKS_AHEAD`. */
  readonly clocksAhead: ReadonlyArray<{
    readonly organizationId: string
    readonly name: string
    readonly seconds: number
  }>
  /** How many are ahead. */
  readonly clocksAheadTotal: number
}

/** A standby that replicates a primary. */
export interface InspectedStandby {
  readonly name: string
  readonly address: string | null
  /** As in `pg_stat_replication`: `streaming`, `catchup` and others. */
  readonly state: string
  /** `sync`, `quorum`, `potential` or `async`. */
  readonly syncState: string
  readonly lagBytes: number | null
  readonly lagSeconds: number
}

/** How many clocks that are ahead are listed. */
const MAX_CLOCKS_AHEAD = 20

/** Reads how the database and the connection to it are set up; operators ask. */
export class DatabaseInspection extends Context.Service<DatabaseInspection>()(
  "backoffice/inspection/DatabaseInspection",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /** Of a database without a schema none. */
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

        /** Reads the times at which the server's clock was not believed, and the partitions of a future that nobody adds today. */
        readClockFaults: sql<{ faults: ReadonlyArray<string>; ahead: ReadonlyArray<string> }>`
        select array(
          select to_char(first_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' to ' || to_char(last_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')
          from clock_faults order by first_at
        ) as faults, array(
          select name from unnest(${PARTITIONED_TABLES}::text[]) as parent cross join lateral partition_ranges(parent) where is_ahead order by name
        ) as ahead`.pipe(
          Effect.map((rows) => rows[0]!),
          orDieAs("DatabaseInspection.readClockFaults"),
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

        readServer: sql<{ server: InspectedServer }>`
        with server as materialized (
          select pg_is_in_recovery() as recovers, current_identity() as identity, clock_timestamp() as now,
            pg_has_role('pg_read_all_stats', 'usage') as sees_standbys, current_setting('synchronous_standby_names') as names
        ), standby as materialized (
          select * from pg_stat_replication where (select sees_standbys from server)
        ), ahead as materialized (
          select organization_id, name, extract(epoch from last - now) as seconds
          from server cross join organization_clock join organizations on id = organization_id where last > now
        )
        select jsonb_build_object(
          'version', current_setting('server_version'),
          'role', case when recovers then 'standby' else 'primary' end,
          'timeline', case when recovers then (select timeline_id from pg_control_checkpoint()) else timeline_of(identity) end,
          'replayedSecondsAgo', case when recovers then extract(epoch from now - pg_last_xact_replay_timestamp()) end,
          'synchronousStandbys', names,
          -- Names without a number ask for one standby.
          'commitsWait', case when not sees_standbys then null else not recovers and names <> '' and
            (select count(*) from standby where sync_state in ('sync', 'quorum'))
              < coalesce(substring(names from '^ *(?:[A-Za-z]+ *)?([0-9]+) *[(]')::int, 1) end,
          'standbys', case when sees_standbys then (
            select coalesce(jsonb_agg(jsonb_build_object(
              'name', application_name, 'address', host(client_addr), 'state', state, 'syncState', sync_state,
              'lagBytes', case when not recovers then pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) end,
              'lagSeconds', coalesce(extract(epoch from replay_lag), 0)) order by application_name), '[]') from standby) end,
          'clockTimelines', (
            select coalesce(jsonb_agg(jsonb_build_object('timeline', timeline_of(each.identity),
              'isThisServers', coalesce(each.identity = server.identity, false), 'organizations', count) order by count desc), '[]')
            from (select identity, count(*) as count from organization_clock group by identity) each),
          'clocksAhead', (
            select coalesce(jsonb_agg(jsonb_build_object('organizationId', organization_id, 'name', name, 'seconds', seconds)
              order by seconds desc), '[]')
            from (select * from ahead order by seconds desc limit ${MAX_CLOCKS_AHEAD}) furthest),
          'clocksAheadTotal', (select count(*) from ahead)
        ) as server from server`.pipe(
          Effect.map((rows) => rows[0]!.server),
          orDieAs("DatabaseInspection.readServer"),
        ),

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
  },
) {
  static readonly layer = Layer.effect(DatabaseInspection, DatabaseInspection.make)
}

/** The rights of a kind of role, each on a table or a part of it. */
const neededRights = (kind: Exclude<RoleKind, "reader">) =>
  Object.keys(TABLE_GRANTS).flatMap((table) =>
    tableRights(table, kind).map(({ privilege }) => ({ table, right: privilege })),
  )
