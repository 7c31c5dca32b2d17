import { CampaignId } from "@outreach/domain/Identifier"
import { parsedArgument } from "./parsedInput.ts"

/** The argument for a campaign's id. */
export const campaignId = parsedArgument("campaign", CampaignId, "The campaign's id, cmp_…")
