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
export class OrganizationRepository extends Context.Service<
  OrganizationRepository,
  {
    /** Adds an organization with its clock. */
    create(id: OrganizationId, name: string): Effect.Effect<Organization>
    /** Lists all organizations, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<OrganizationStatus>>
  }
>()("postgres/organizations/OrganizationRepository") {
  /** Keeps organizations in PostgreSQL. */
  static readonly layer = Layer.effect(
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
}
