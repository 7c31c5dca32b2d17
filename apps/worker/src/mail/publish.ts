import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { pauseOnComplaints, publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"

const pause = Effect.sleep(workerLimits.pause.maxMs)

/**
 * Publishes scheduled campaigns in chunks, opens and completes them with their windows, and pauses those with too many complaints,
 * until interrupted.
 */
export const publish = Effect.gen(function* () {
  const campaigns = yield* CampaignRepository
  const publishNext = Effect.flatMap(publishChunk(), (published) => (published ? Effect.void : pause))
  // Separate, so that a long publication doesn't delay the windows of other campaigns.
  const openAndComplete = Effect.andThen(campaigns.openAndComplete, pause)
  const loops = [
    retryForever("publish", publishNext),
    retryForever("openAndComplete", openAndComplete),
    retryForever("pauseOnComplaints", Effect.andThen(pauseOnComplaints, pause)),
  ]
  return yield* Effect.all(loops, { concurrency: "unbounded", discard: true })
})
