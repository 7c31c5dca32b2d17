import { OrganizationId } from "@outreach/domain/Identifier"
import { parsedFlag } from "./parsedInput.ts"

/** `--organization`: an organization's id. */
export const organization = parsedFlag("organization", OrganizationId, "The organization's id, org_…")
