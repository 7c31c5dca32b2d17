import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { field } from "../http/inputs.ts"

export const organizationFilter = field(OrganizationId, "Organization", { kind: "choice", all: "All" })

export const timeRange = (from: string, to: string) => ({
  from: field(Instant, from, { placeholder: "2026-12-01T09:00:00Z", size: 22 }),
  to: field(Instant, to, { placeholder: "2026-12-02T09:00:00Z", size: 22 }),
})
