import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { missingFiles } from "@outreach/postgres/migrations/planMigrations"
import { readSqlFiles } from "@outreach/postgres/migrations/readSqlFiles"
import { PARTITIONED_TABLES } from "@outreach/postgres/Partitions"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

/** The connections of the processes of one name, release and machine. */
const decodeProcesses = decodeRows({
  /** As `application_name` says it: `outreach-worker`, or the name of any other program. */
  name: Schema.String,
  /** Null of programs that give none. */
  release: Schema.NullOr(Schema.String),
  /** Null on the server's own machine, or if the role may not see it. */
  address: Schema.NullOr(Schema.String),
  connections: Schema.Int,
  /** When the oldest of the connections was opened; null if the role may not see it. */
  since: Schema.NullOr(Timestamp),
})

const decodeFiles = decodeRows({ file: Schema.String, appliedAt: Timestamp })

/** A table with its partitions and indexes. */
const decodeTables = decodeRows({
  name: Schema.String,
  bytes: Schema.Number,
  indexBytes: Schema.Number,
  /** As the statistics have them; null before the first of them. */
  rows: Schema.NullOr(Schema.Number),
  deadRows: Schema.Number,
  vacuumedAt: Schema.NullOr(Timestamp),
})

const PartitionState = Schema.Struct({
  table: Schema.Literals(PARTITIONED_TABLES),
  partitions: Schema.Int,
  /** The days or months of the oldest and the newest one, such as `2026-11`; null without any. */
  oldest: Schema.NullOr(Schema.String),
  newest: Schema.NullOr(Schema.String),
  /** The rows, as the statistics have them, of the partition that takes what fits into no other. */
  outside: Schema.Number,
})
export type PartitionState = typeof PartitionState.Type

const decodePartitions = decodeRows(PartitionState.fields)

/** A setting of the server, as `show` shows it. */
const decodeSettings = decodeRows({
  name: Schema.String,
  value: Schema.String,
  /** Where it comes from, as in `pg_settings`: `default`, `configuration file` and others. */
  source: Schema.String,
  /** Whether the server must be started again for it to hold. */
  needsRestart: Schema.Boolean,
})

/** What an operator wants to know of a server's settings; none of them is a secret. */
const SERVER_SETTINGS = [
  ...["max_connections", "shared_buffers", "effective_cache_size", "work_mem", "maintenance_work_mem", "max_wal_size"],
  ...["synchronous_commit", "synchronous_standby_names", "fsync", "full_page_writes", "wal_level", "data_checksums"],
  ...["autovacuum", "autovacuum_max_workers", "max_worker_processes", "max_prepared_transactions", "jit"],
  ...["statement_timeout", "idle_in_transaction_session_timeout", "TimeZone", "max_slot_wal_keep_size"],
]

const MAX_TABLES = 20

/** Reads what runs on the database, and how large it is; each reading is one statement over the catalog and the statistics. */
export class SystemReader extends DatabaseService<SystemReader>()(
  "backoffice/inspection/SystemReader",
  function* (sql) {
    const files = yield* Effect.cached(readSqlFiles())
    return {
      readProcesses: sql`
        select split_part(application_name, '/', 1) as name, nullif(split_part(application_name, '/', 2), '') as release,
          host(client_addr) as address, count(*)::int as connections, min(backend_start) as since
        from pg_stat_activity
        -- Of other roles' connections only pg_monitor sees more than the name.
        where datname = current_database() and coalesce(backend_type, 'client backend') = 'client backend'
        group by application_name, client_addr order by name, release, address`.pipe(decodeProcesses),

      /** Reads how many migrations were applied, the newest, and the files of this release that were not applied. */
      readSchema: Effect.gen(function* () {
        const applied = yield* sql`select file, applied_at as "appliedAt" from migrations order by file`.pipe(
          decodeFiles,
        )
        const migrations = applied.filter(({ file }) => file.startsWith("migrations/"))
        return {
          migrations: migrations.length,
          newest: migrations.at(-1) ?? null,
          pending: missingFiles(yield* files, new Set(applied.map(({ file }) => file))),
        }
      }),

      readTables: sql`
        select coalesce(pg_partition_root(relation.oid)::regclass, relation.oid::regclass)::text as name,
          sum(own_bytes + index_bytes)::double precision as bytes, sum(index_bytes)::double precision as "indexBytes",
          sum(nullif(reltuples, -1))::double precision as rows, coalesce(sum(n_dead_tup), 0)::double precision as "deadRows",
          max(greatest(last_vacuum, last_autovacuum)) as "vacuumedAt"
        from pg_class relation left join pg_stat_user_tables statistics on relid = relation.oid
        -- Each file is looked at once, which is most of the work.
        cross join lateral (select pg_table_size(relation.oid) as own_bytes, pg_indexes_size(relation.oid) as index_bytes offset 0) size
        where relnamespace = 'public'::regnamespace and relkind = 'r'
        group by 1 order by bytes desc, name limit ${MAX_TABLES}`.pipe(decodeTables),

      readPartitions: sql`
        select name as "table", count(*)::int as partitions,
          min(date) as oldest, max(date) as newest,
          coalesce(sum(greatest(reltuples, 0)) filter (where relname in (name || '_default', name || '_later')), 0)::double precision
            as outside
        from unnest(${PARTITIONED_TABLES}::text[]) with ordinality as partitioned (name, position)
        join pg_inherits on inhparent = name::regclass
        join pg_class partition on partition.oid = inhrelid
        cross join lateral (select replace(substring(relname from '_([0-9]{4}(_[0-9]{2})+)$'), '_', '-') as date) dated
        group by name, position order by position`.pipe(decodePartitions),

      readSettings: sql`
        select name, current_setting(name) as value, source, pending_restart as "needsRestart"
        from unnest(${SERVER_SETTINGS}::text[]) with ordinality as wanted (wanted_name, position)
        join pg_settings on name = wanted_name order by position`.pipe(decodeSettings),
    }
  },
) {}
