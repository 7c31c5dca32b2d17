import { outboundEventTypes } from "@outreach/domain/events/outgoingEvents"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant, PastInstant } from "@outreach/domain/Instant"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { wholeNumber } from "@outreach/domain/textSchema"
import { choice, field, required } from "./Field.ts"

/** The organization of a new object. */
export const organizationId = required(field(OrganizationId, "Organization", { kind: "choice" }))

export const reason = field(AuditReason, "Reason", {
  maxLength: 200,
  size: 42,
  hint: "For the audit log; don't enter addresses or NPIs",
})

export const organizationFilter = field(OrganizationId, "Organization", { kind: "choice", all: "All" })

export const endpointFilter = field(EndpointId, "Endpoint", { kind: "choice", all: "All" })

export const outboundType = choice("Type", outboundEventTypes, { all: "All" })

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
