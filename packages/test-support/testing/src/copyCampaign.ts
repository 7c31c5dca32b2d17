import type { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { value } from "./sql.ts"

/** Inserts a draft campaign with the e-mail and window of another one, by default in its program. Returns its id. */
export const copyCampaign = (campaignId: CampaignId, programId: ProgramId | null = null) =>
  value<CampaignId>`
    insert into campaigns (organization_id, id, program_id, name, kind, subject, html, window_start, window_end)
    select organization_id, make_id('cmp'), coalesce(${programId}::text, program_id), name, kind, subject, html, window_start, window_end
    from campaigns where id = ${campaignId} returning id`
