import { Organization, OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { adapter } from "../adapter.ts"
import { firstOr, only, rowsOf } from "../rowsOf.ts"

const { columns, decode } = rowsOf(Organization)

export const OrganizationRepositoryPg = adapter(OrganizationRepository, (sql) => ({
  create: (id, name) =>
    sql`
        with organization as (
          insert into organizations (id, name) values (${id}, ${name}) returning *
        ), clock as (
          insert into organization_clock (organization_id, last, server_started_at, identity)
          select id, created_at, pg_postmaster_start_time(), note_timeline() from organization
        )
        select ${columns} from organization`.pipe(decode, only),

  setContacts: (organizationId, contacts) =>
    sql`
        with pending as (
          update endpoint_readers set notice_to = ${contacts}::text[], notice_due_at = clock_timestamp()
          where organization_id = ${organizationId} and notice_to <> '{}'
        )
        update organizations set contacts = ${contacts}::text[] where id = ${organizationId} returning ${columns}`.pipe(
      decode,
      firstOr(OrganizationNotFound, { organizationId }),
    ),

  setLimits: (organizationId, { selfService = null, maxEndpoints = null }) =>
    sql`
        update organizations
        set self_service = coalesce(${selfService}, self_service), max_endpoints = coalesce(${maxEndpoints}, max_endpoints)
        where id = ${organizationId} returning ${columns}`.pipe(
      decode,
      firstOr(OrganizationNotFound, { organizationId }),
    ),
}))
