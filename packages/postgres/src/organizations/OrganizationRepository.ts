import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** An organization, and how its clock stands. */
export interface OrganizationStatus extends Organization {
  /** How far its clock, from which its stamps go on, is ahead of the database's; 0 when it is not. */
  readonly clockAheadSeconds: number
}

/** Keeps organizations. */
export class OrganizationRepository extends Context.Service<OrganizationRepository>()(
  "postgres/organizations/OrganizationRepository",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return {
        /** Adds an organization with its clock. */
        create: Effect.fn("OrganizationRepository.create")(function* (id: OrganizationId, name: string) {
          const rows = yield* sql<Organization>`
          with organization as (
            insert into organizations (id, name) values (${id}, ${name}) returning id, name, created_at
          ), clock as (
            insert into organization_clock (organization_id, last) select id, created_at from organization
          )
          select id, name, created_at as "createdAt" from organization`
          return rows[0]!
        }, orDieAs("OrganizationRepository.create")),

        /** Lists all organizations, oldest first. */
        list: sql<OrganizationStatus>`
        select id, name, created_at as "createdAt",
          greatest(0, extract(epoch from last - clock_timestamp()))::double precision as "clockAheadSeconds"
        from organizations join organization_clock on organization_id = id order by id`.pipe(
          orDieAs("OrganizationRepository.list"),
        ),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(OrganizationRepository, OrganizationRepository.make)
}
