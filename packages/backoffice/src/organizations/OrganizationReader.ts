import type { OrganizationId } from "@outreach/domain/Identifier"
import { Organization, OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { reader } from "@outreach/postgres/adapter"
import { firstOr, rowsOf } from "@outreach/postgres/rowsOf"
import { Schema } from "effect"

const organizations = rowsOf(Organization)
/** With the seconds by which the clock of its timestamps is ahead of the database's; 0 if it isn't. */
const statuses = rowsOf(Schema.Struct({ ...Organization.fields, clockAheadSeconds: Schema.Number }), {
  clockAheadSeconds: "greatest(0, extract(epoch from last - clock_timestamp()))::double precision",
})

export const OrganizationReader = reader("OrganizationReader", (sql) => ({
  /** Lists all organizations, oldest first. */
  list: sql`
    select ${statuses.columns} from organizations join organization_clock on organization_id = id order by id`.pipe(
    statuses.decode,
  ),

  find: (organizationId: OrganizationId) =>
    sql`select ${organizations.columns} from organizations where id = ${organizationId}`.pipe(
      organizations.decode,
      firstOr(OrganizationNotFound, { organizationId }),
    ),
}))
