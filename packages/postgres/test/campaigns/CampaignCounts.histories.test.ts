import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { resetSending } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import fc from "fast-check"
import { beforeEach, describe, expect, it } from "vitest"
import { carryOut, operation } from "./campaignHistory.ts"
import { countCampaign, funnelHours, keep, progressOf, seed } from "./countCampaign.ts"

const run = runOnDatabase()

beforeEach(() => run(resetSending))

describe("the counts of a campaign", () => {
  // A few histories to a test, so that each ends in time on a busy machine.
  it.each(Array.from({ length: 10 }, (_, i) => i + 1))(
    "are what its rows count to, whatever was imported, published, sent, withdrawn, hit and erased (%i)",
    () =>
      fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(operation, { minLength: 3, maxLength: 25 }), (isTest, operations) =>
          run(
            Effect.gen(function* () {
              const seeded = yield* seed(isTest)
              const { id, organizationId } = seeded.campaign
              for (const operation of operations) yield* carryOut(seeded, operation)
              expect(yield* keep(id)).toEqual(yield* countCampaign(id))
              const funnel = yield* funnelHours(organizationId)
              expect(funnel.kept).toEqual(funnel.counted)
              const kept = yield* progressOf(id)
              yield* (yield* CampaignCounts).fold
              expect(yield* keep(id)).toEqual(yield* countCampaign(id))
              expect(yield* progressOf(id)).toEqual(kept)
              yield* resetSending
            }),
          ),
        ),
        { numRuns: propertyRuns(6) },
      ),
  )
})
