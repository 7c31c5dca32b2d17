import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Output, remark } from "../output/Output.ts"
import { formatProgress } from "./formatProgress.ts"

const OVER: ReadonlyArray<Campaign["status"]> = ["completed", "paused", "cancelled", "draft"]

/** Shows a campaign's progress on standard error until nothing more is sent: in place on a terminal, else a line whenever it changed. */
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
    else if (line !== shown) yield* remark(line)
    shown = line
    if (OVER.includes(status)) break
    yield* Effect.sleep("1 second")
  }
  if (inPlace) stderr.write("\n")
})
