import { ImportLog } from "@outreach/backoffice/recipients/ImportLog"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { ImportId } from "@outreach/domain/Identifier"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { campaignFlag } from "../inputs/filters.ts"
import { argument } from "../inputs/Input.ts"

const list = reading({
  about: "List the imports into a campaign, newest first: when, who, and how many lines had which outcome",
  examples: ["ops imports list --campaign cmp_…"],
  input: { campaignId: campaignFlag },
  cursor: { id: ImportId },
  *run({ campaignId }, { limit, after }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    return yield* (yield* ImportLog).list(campaign, { limit, before: after })
  },
  columns: [
    ...(["id", "begunAt", "operator", "status", "lines", "imported", "updated", "alreadyThere"] as const),
    ...(["suppressed", "repeated", "rejected", "fault"] as const),
  ],
})

const show = reading({
  about: "List the first thousand rejected lines of an import by number and reason",
  examples: ["ops imports show imp_…"],
  input: { importId: argument(ImportId, "The import's id, imp_…") },
  *run({ importId }) {
    return (yield* (yield* ImportLog).find(importId)).rejects
  },
  columns: ["line", "reason"],
})

export const imports = group({
  about: "Files of recipients that were imported",
  commands: { list, show },
  services: Layer.merge(CampaignRepositoryPg, ImportLog.layer),
})
