import type { OrganizationId } from "@outreach/domain/Identifier"
import { type Organization, OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TABLES_THAT_STAY } from "./tablesThatStay.ts"

/** An organization, and how its clock stands. */
export interface OrganizationStatus extends Organization {
  /** How far its clock, from which its stamps go on, is ahead of the database's; 0 when it is not. */
  readonly clockAheadSeconds: number
  /** Since when nothing new begins for it here; null where it is served. */
  readonly frozenAt: Timestamp | null
}

/** A table whose rows move with their organization. */
export interface MovedTable {
  readonly name: string
  readonly columns: ReadonlyArray<string>
  /** The tables that its foreign keys lead to. */
  readonly references: ReadonlyArray<string>
}

/** Reads organizations, and which tables move with one. */
export class OrganizationReader extends Context.Service<OrganizationReader>()(
  "backoffice/organizations/OrganizationReader",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return {
        /** Lists all organizations, oldest first. */
        list: sql<OrganizationStatus>`
        select id, name, created_at as "createdAt",
          greatest(0, extract(epoch from last - clock_timestamp()))::double precision as "clockAheadSeconds",
          frozen_at as "frozenAt"
        from organizations join organization_clock on organization_id = id order by id`.pipe(
          orDieAs("OrganizationReader.list"),
        ),

        /** Finds an organization. */
        find: Effect.fn("OrganizationReader.find")(function* (organizationId: OrganizationId) {
          const rows = yield* sql<Organization>`
            select id, name, created_at as "createdAt" from organizations where id = ${organizationId}`
          return rows[0] ?? (yield* new OrganizationNotFound({ organizationId }))
        }, orDieAs("OrganizationReader.find")),

        /** Reads which tables move with an organization: those that `TABLES_THAT_STAY` does not name. */
        movedTables: sql<MovedTable>`
          select relname as name,
            array(select attname::text from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped order by attnum) as columns,
            array(
              select distinct confrelid::regclass::text from pg_constraint
              where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid
            ) as references
          from pg_class
          where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
            and relname <> all (${Object.keys(TABLES_THAT_STAY)}::text[])
          order by relname`.pipe(orDieAs("OrganizationReader.movedTables")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(OrganizationReader, OrganizationReader.make)
}
