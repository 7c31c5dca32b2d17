import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { CampaignId, ImportId } from "@outreach/domain/Identifier"
import { field, required } from "../operations/Field.ts"
import { ImportLog, type ImportRecord } from "../recipients/ImportLog.ts"
import { badge, count, inOps, list, type Tone, text, time } from "./List.ts"

export const IMPORT_TONES: Readonly<Record<ImportRecord["status"], Tone>> = {
  running: "neutral",
  finished: "good",
  failed: "bad",
  interrupted: "warning",
}

export const imports = list("imports list", {
  about: "List the imports into a campaign, newest first: when, who, and how many lines had which outcome",
  filters: { campaignId: required(field(CampaignId, "Campaign")) },
  cursor: { id: ImportId },
  *read({ campaignId }, { limit, after }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    return yield* (yield* ImportLog).list(campaign, { limit: limit + 1, before: after })
  },
  columns: {
    id: inOps,
    begunAt: { ...time("Started"), of: ({ id }) => id },
    operator: text("By"),
    status: badge("Status", IMPORT_TONES),
    lines: count("Lines"),
    imported: count("Imported"),
    updated: count("Existing, fields updated"),
    alreadyThere: count("Existing"),
    suppressed: count("Suppressed"),
    repeated: count("Duplicates"),
    rejected: count("Rejected"),
    fault: inOps,
  },
  empty: "No imports yet.",
})
