import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { missingFiles } from "@outreach/postgres/migrations/planMigrations"
import { readSqlFiles } from "@outreach/postgres/migrations/readSqlFiles"
import { PARTITIONED_TABLES } from "@outreach/postgres/Partitions"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

/** The connections of processes with one name, release and machine. */
const decodeProcesses = decodeRows({
  /** From `application_name`: `outreach-worker`, or the name of another program. */
  name: Schema.String,
  /** Null if the program sets none. */
  release: Schema.NullOr(Schema.String),
  /** Null on the server's machine, or if the role can't see it. */
  address: Schema.NullOr(Schema.String),
  connections: Schema.Int,
  /** When the oldest connection was opened; null if the role can't see it. */
  since: Schema.NullOr(Timestamp),
})

const decodeFiles = decodeRows({ file: Schema.String, appliedAt: Timestamp })

/** A table with its partitions and indexes. */
const decodeTables = decodeRows({
  name: Schema.String,
  bytes: Schema.Number,
  indexBytes: Schema.Number,
  /** From the statistics; null before the first. */
  rows: Schema.NullOr(Schema.Number),
  deadRows: Schema.Number,
  vacuumedAt: Schema.NullOr(Timestamp),
})

const PartitionState = Schema.Struct({
  table: Schema.Literals(PARTITIONED_TABLES),
  partitions: Schema.Int,
  /** The days or months of the oldest and newest partition, such as `2026-11`; null without any. */
  oldest: Schema.NullOr(Schema.String),
  newest: Schema.NullOr(Schema.String),
  /** The rows of the default partition, from the statistics. */
  outside: Schema.Number,
})
export type PartitionState = typeof PartitionState.Type

const decodePartitions = decodeRows(PartitionState.fields)

const MAX_TABLES = 20

/** Reads the database's clients and sizes, each with one statement on the catalog and the statistics. */
export class SystemReader extends DatabaseService<SystemReader>()(
  "backoffice/inspection/SystemReader",
  function* (sql) {
    const files = yield* Effect.cached(readSqlFiles())
    return {
      readProcesses: sql`
        select split_part(application_name, '/', 1) as name, nullif(split_part(application_name, '/', 2), '') as release,
          host(client_addr) as address, count(*)::int as connections, min(backend_start) as since
        from pg_stat_activity
        -- For connections of other roles, only pg_monitor sees more than the name.
        where datname = current_database() and coalesce(backend_type, 'client backend') = 'client backend'
        group by application_name, client_addr order by name, release, address`.pipe(decodeProcesses),

      /** Reads the number of applied migrations, the newest one, and this release's unapplied files. */
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
        -- Each file is checked once, which is most of the work.
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
    }
  },
) {}
