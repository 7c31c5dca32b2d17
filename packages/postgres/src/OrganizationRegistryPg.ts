import type { Organization, OrganizationStatus } from "@outreach/domain/callers/Organization"
import { OrganizationRegistry } from "@outreach/domain/callers/OrganizationRegistry"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/** Keeps organizations in PostgreSQL. */
export const OrganizationRegistryPg = Layer.effect(
  OrganizationRegistry,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      create: Effect.fn("OrganizationRegistry.create")(function* (id, name) {
        const rows = yield* sql<Organization>`
          with organization as (
            insert into organizations (id, name) values (${id}, ${name}) returning id, name, created_at
          ), clock as (
            insert into organization_clock (organization_id, last) select id, created_at from organization
          )
          select id, name, created_at as "createdAt" from organization`
        return rows[0]!
      }, dieNaming("OrganizationRegistry.create")),

      list: sql<OrganizationStatus>`
        select id, name, created_at as "createdAt",
          greatest(0, extract(epoch from last - clock_timestamp()))::double precision as "clockAheadSeconds"
        from organizations join organization_clock on organization_id = id order by id`.pipe(
        dieNaming("OrganizationRegistry.list"),
      ),
    }
  }),
)
