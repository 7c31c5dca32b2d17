import type { Organization, OrganizationStatus } from "@outreach/domain/organizations/Organization"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Keeps organizations in PostgreSQL. */
export const OrganizationRepositoryPg = Layer.effect(
  OrganizationRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      create: Effect.fn("OrganizationRepository.create")(function* (id, name) {
        const rows = yield* sql<Organization>`
          with organization as (
            insert into organizations (id, name) values (${id}, ${name}) returning id, name, created_at
          ), clock as (
            insert into organization_clock (organization_id, last) select id, created_at from organization
          )
          select id, name, created_at as "createdAt" from organization`
        return rows[0]!
      }, orDieAs("OrganizationRepository.create")),

      list: sql<OrganizationStatus>`
        select id, name, created_at as "createdAt",
          greatest(0, extract(epoch from last - clock_timestamp()))::double precision as "clockAheadSeconds"
        from organizations join organization_clock on organization_id = id order by id`.pipe(
        orDieAs("OrganizationRepository.list"),
      ),
    }
  }),
)
