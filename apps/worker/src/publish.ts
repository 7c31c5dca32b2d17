import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

const pause = Effect.sleep(workerLimits.pause.longestMs)

/** Publishes scheduled campaigns chunk by chunk, and opens and closes them with their windows, until interrupted. */
export const publish = Effect.gen(function* () {
  const book = yield* CampaignBook
  const publishNext = Effect.flatMap(publishChunk(), (published) => (published ? Effect.void : pause))
  // Apart, so that a long publication keeps no other campaign's window shut.
  const advance = Effect.andThen(book.advance, pause)
  return yield* Effect.all([persist("publish", publishNext), persist("advance", advance)], {
    concurrency: "unbounded",
    discard: true,
  })
})
