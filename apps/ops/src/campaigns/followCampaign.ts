import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { progressLine } from "@outreach/process/progress"
import { Effect } from "effect"
import { Output } from "../output/Output.ts"
import { formatProgress } from "./formatProgress.ts"

/** The statuses in which a campaign sends nothing. */
const IDLE_STATUSES: ReadonlyArray<Campaign["status"]> = ["completed", "paused", "cancelled", "draft"]

/** Prints a campaign's progress to standard error until nothing more is sent; nothing with `--json`. */
export const followCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaigns = yield* CampaignRepository
  const { json } = yield* Output
  const line = json ? undefined : yield* progressLine("stderr")
  while (true) {
    const { status } = yield* campaigns.find(campaignId)
    yield* line?.show(`${status} · ${formatProgress(yield* campaigns.progress(campaignId))}`) ?? Effect.void
    if (IDLE_STATUSES.includes(status)) break
    yield* Effect.sleep("1 second")
  }
}, Effect.scoped)
