import type { CampaignSummary, ProgramSummary } from "@outreach/contract"
import type { CampaignWithProgram } from "@outreach/domain/campaigns/CampaignRepository"

/** A campaign as the wire shows it in short. */
export const campaignSummary = ({ campaign }: CampaignWithProgram, livemode: boolean): CampaignSummary => ({
  object: "campaign",
  livemode,
  id: campaign.id,
  name: campaign.name,
  program_id: campaign.programId,
  status: campaign.status,
})

/** A program as the wire shows it in short. */
export const programSummary = (
  { program }: Pick<CampaignWithProgram, "program">,
  livemode: boolean,
): ProgramSummary => ({
  object: "program",
  livemode,
  id: program.id,
  slug: program.slug,
  name: program.name,
  status: program.status,
})
