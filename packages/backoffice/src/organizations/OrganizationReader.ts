import type { OrganizationId } from "@outreach/domain/Identifier"
import { Organization, OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { decodeRow, decodeRows, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { TABLES_THAT_STAY } from "./tablesThatStay.ts"

const OrganizationStatus = Schema.Struct({
  ...Organization.fields,
  /** How far its clock, from which its timestamps go on, is ahead of the database's; 0 when it is not. */
  clockAheadSeconds: Schema.Number,
  /** Since when nothing new begins for it here; null where it is served. */
  frozenAt: Schema.NullOr(Timestamp),
})
export type OrganizationStatus = typeof OrganizationStatus.Type

/** A table whose rows move with their organization. */
const MovedTable = Schema.Struct({
  name: Schema.String,
  columns: Schema.Array(Schema.String),
  /** The tables that its foreign keys lead to. */
  references: Schema.Array(Schema.String),
})
export type MovedTable = typeof MovedTable.Type

/** What was begun for an organization before it was frozen, and is not finished. */
const InFlight = Schema.Struct({
  /** Messages whose sending has begun, by their leases. */
  messages: Schema.Int,
  /** Endpoints that a living worker still owns, and calls to them that it has not settled. */
  endpoints: Schema.Int,
  calls: Schema.Int,
})

const organizations = rowsOf(Organization)
const statuses = rowsOf(OrganizationStatus, {
  clockAheadSeconds: "greatest(0, extract(epoch from last - clock_timestamp()))::double precision",
})
const decodeTables = decodeRows(MovedTable.fields)
const decodeProcesses = decodeRows({ process: Schema.String })
const decodeInFlight = decodeRow(InFlight.fields)
const decodePosition = decodeRow({ position: Schema.String })

/** Reads organizations, and which tables move with one. */
export class OrganizationReader extends DatabaseService<OrganizationReader>()(
  "backoffice/organizations/OrganizationReader",
  (sql) => ({
    /** Lists all organizations, oldest first. */
    list: sql`
    select ${statuses.columns} from organizations join organization_clock on organization_id = id order by id`.pipe(
      statuses.decode,
    ),

    find: Effect.fnUntraced(function* (organizationId: OrganizationId) {
      const rows = yield* sql`select ${organizations.columns} from organizations where id = ${organizationId}`.pipe(
        organizations.decode,
      )
      return rows[0] ?? (yield* new OrganizationNotFound({ organizationId }))
    }),

    /** Reads what is still in flight for a frozen organization; `older` are the transactions that `freezeOrganization` returned. */
    inFlight: Effect.fnUntraced(function* (organizationId: OrganizationId, older: ReadonlyArray<string>) {
      const transactions = yield* sql`
      select pid || ' (' || application_name || ')' as process from pg_locks join pg_stat_activity using (pid)
      where locktype = 'virtualxid' and virtualxid = any (${older}::text[]) order by pid`.pipe(decodeProcesses)
      // By a later statement, which sees what these transactions wrote.
      const counts = yield* sql`
      with alive as materialized (select token from delivery_workers where alive_until > clock_timestamp())
      select
        (select count(*)::int from messages where organization_id = ${organizationId} and lease_until > clock_timestamp()) as messages,
        (select count(*)::int from endpoint_readers where organization_id = ${organizationId} and owner in (table alive)) as endpoints,
        (select count(*)::int from deliveries where organization_id = ${organizationId} and owner in (table alive)) as calls`.pipe(
        decodeInFlight,
      )
      return { transactions: transactions.map(({ process }) => process), ...counts }
    }),

    /** Returns where the WAL ends: everything that was committed before this call lies below it. */
    walPosition: sql`select pg_current_wal_lsn()::text as position`.pipe(
      decodePosition,
      Effect.map(({ position }) => position),
    ),

    /** Reads which tables move with an organization: those that `TABLES_THAT_STAY` does not name. */
    movedTables: sql`
    select relname as name,
      array(select attname::text from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped order by attnum) as columns,
      array(
        select distinct confrelid::regclass::text from pg_constraint
        where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid
      ) as references
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> all (${Object.keys(TABLES_THAT_STAY)}::text[])
    order by relname`.pipe(decodeTables),
  }),
) {}
