import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { printRecord } from "../output/Output.ts"

/** Prints a campaign without its body. */
export const printCampaign = ({ html: _, ...campaign }: Campaign) => printRecord(campaign)
