import { outboundEventTypes } from "@outreach/domain/events/outgoingEvents"
import { CampaignId, EndpointId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Instant, PastInstant } from "@outreach/domain/Instant"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { SearchTerm } from "@outreach/domain/operators/SearchTerm"
import { wholeNumber } from "@outreach/domain/textSchema"
import { choice, field, file, required } from "./Field.ts"

/** The organization of a new object. */
export const organizationId = required(field(OrganizationId, "Organization", { kind: "choice" }))

export const reason = field(AuditReason, "Reason", {
  maxLength: 200,
  size: 42,
  hint: "For the audit log; don't enter addresses or NPIs",
})

/** The result of an export. */
export const newFile = file("Write to this new file, readable only by its owner")

export const organizationFilter = field(OrganizationId, "Organization", { kind: "choice", all: "All" })

export const programFilter = field(ProgramId, "Program", { kind: "choice", all: "All" })

export const campaignFilter = field(CampaignId, "Campaign", { kind: "choice", all: "All" })

export const endpointFilter = field(EndpointId, "Endpoint", { kind: "choice", all: "All" })

export const outboundType = choice("Type", outboundEventTypes, { all: "All" })

/** The word that the console's search looks up. */
export const searchTerm = field(SearchTerm, "Find", {
  size: 42,
  maxLength: 320,
  hint: "Part of a name, an id, e-mail address, NPI, token, or a leaked key or signing secret. The audit log records the search without the term.",
})

export const httpStatus = field(wholeNumber(100, 599, "an HTTP status"), "Status", {
  inputmode: "numeric",
  size: 4,
  hint: "The HTTP status of the last attempt",
  example: "503",
})

export const timeRange = (from: string, to: string) => ({
  from: field(PastInstant, from, { kind: "instant", example: "2026-11-01T09:00:00Z" }),
  to: field(Instant, to, { kind: "instant" }),
})
