import { organizations as organizationList } from "@outreach/backoffice/lists/organizations"
import { createOrganization, showOrganization, updateOrganization } from "@outreach/backoffice/operations/organizations"
import { group } from "../group.ts"

export const organizations = group("organizations", "The partners' accounts", [
  createOrganization,
  organizationList,
  showOrganization,
  updateOrganization,
])
