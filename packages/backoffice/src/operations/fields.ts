import { OrganizationId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { field, required } from "./Field.ts"

/** The organization of a new object. */
export const organizationId = required(field(OrganizationId, "Organization", { kind: "choice" }))

export const reason = field(AuditReason, "Reason", {
  maxLength: 200,
  size: 42,
  hint: "For the audit log; don't enter addresses or NPIs",
})
