import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { CampaignId, ImportId } from "@outreach/domain/Identifier"
import { ImportLog, type ImportRecord } from "../recipients/ImportLog.ts"
import { field, required } from "./Field.ts"
import { badge, count, inOps, list, type Tones, text, time } from "./List.ts"
import { operation, rowsPart } from "./Operation.ts"

export const IMPORT_TONES: Tones<ImportRecord["status"]> = { finished: "good", failed: "bad", interrupted: "warning" }

export const imports = list("imports list", {
  about: "List the imports into a campaign, newest first: when, who, and how many lines had which outcome",
  filters: { campaignId: required(field(CampaignId, "Campaign")) },
  cursor: { id: ImportId },
  *read({ campaignId }, { limit, after }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    return yield* (yield* ImportLog).list(campaign, { limit: limit + 1, before: after })
  },
  columns: {
    ...inOps("id"),
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
    ...inOps("fault"),
  },
  empty: "No imports.",
  filledBy: "recipients import",
})

export const showImport = operation("imports show", {
  access: "reads",
  about: "List the first thousand rejected lines of an import by number and reason",
  of: { importId: ImportId },
  *run({ importId }) {
    return { data: (yield* (yield* ImportLog).find(importId)).rejects }
  },
  show: ({ data }) => [rowsPart(data, ["line", "reason"])],
})
