import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { pauseOnComplaints, publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { Effect } from "effect"
import { repeatEvery, repeatWithPauses } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"

const { maxMs } = workerLimits.pause

/**
 * Publishes scheduled campaigns in chunks, opens and completes them with their windows, and pauses those with too many complaints,
 * until interrupted.
 */
export const publish = Effect.gen(function* () {
  const campaigns = yield* CampaignRepository
  const loops = [
    repeatWithPauses(
      "publish",
      Effect.map(publishChunk(), (published) => (published ? 1 : 0)),
    ),
    // Separate, so that a long publication doesn't delay the windows of other campaigns.
    repeatEvery("openAndComplete", maxMs, campaigns.openAndComplete),
    repeatEvery("pauseOnComplaints", maxMs, pauseOnComplaints),
  ]
  return yield* Effect.all(loops, { concurrency: "unbounded", discard: true })
})
