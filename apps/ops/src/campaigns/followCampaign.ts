import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Output, printToStderr } from "../output/Output.ts"
import { formatProgress } from "./formatProgress.ts"

/** The statuses in which a campaign sends nothing. */
const IDLE_STATUSES: ReadonlyArray<Campaign["status"]> = ["completed", "paused", "cancelled", "draft"]

/** Prints a campaign's progress to standard error until nothing more is sent. On a terminal each line replaces the one before. */
export const followCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaigns = yield* CampaignRepository
  const { json } = yield* Output
  const { stderr } = process
  const inPlace = stderr.isTTY && !json
  let shown = ""
  while (true) {
    const { status } = yield* campaigns.find(campaignId)
    const line = `${status} · ${formatProgress(yield* campaigns.progress(campaignId))}`
    if (inPlace) stderr.write(`\r\u001b[2K${line.slice(0, stderr.columns - 1)}`)
    else if (line !== shown) yield* printToStderr(line)
    shown = line
    if (IDLE_STATUSES.includes(status)) break
    yield* Effect.sleep("1 second")
  }
  if (inPlace) stderr.write("\n")
})
