import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { ProgramId } from "@outreach/domain/Identifier"
import { Schema } from "effect"
import { choice, field } from "../operations/Field.ts"
import { organizationFilter } from "../operations/fields.ts"

export const campaignFilters = {
  organizationId: organizationFilter,
  programId: field(ProgramId, "Program", { kind: "choice", all: "All" }),
  status: choice("Status", CAMPAIGN_STATUSES, { all: "All" }),
  kind: choice("Kind", ["traffic", "survey"], { all: "All" }),
  text: field(Schema.String, "Name contains", { size: 16, hint: "Case-insensitive" }),
}
