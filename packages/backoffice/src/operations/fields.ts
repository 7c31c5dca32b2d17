import { OrganizationId } from "@outreach/domain/Identifier"
import { field, required } from "./Field.ts"

/** The organization of a new object. */
export const organizationId = required(field(OrganizationId, "Organization", { kind: "choice" }))
