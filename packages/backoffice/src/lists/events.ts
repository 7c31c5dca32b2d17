import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { choice, field } from "../operations/Field.ts"
import { organizationFilter, timeRange } from "../operations/fields.ts"

export const eventFilters = {
  organizationId: organizationFilter,
  type: choice("Type", outboundEventTypes, { all: "All" }),
  campaignId: field(CampaignId, "Campaign", { kind: "choice", all: "All" }),
  recipientId: field(RecipientId, "Clinician", { placeholder: "rcp_…", hint: "The id of a recipient" }),
  ...timeRange("Emitted from", "Emitted before"),
}
