import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

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
            insert into organization_clock (organization_id, last, server_started_at, identity)
            select id, created_at, pg_postmaster_start_time(), note_timeline() from organization
          )
          select id, name, created_at as "createdAt" from organization`
          return rows[0]!
        }, orDieAs("OrganizationRepository.create")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(OrganizationRepository, OrganizationRepository.make)
}
