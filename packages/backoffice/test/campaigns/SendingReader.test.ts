import { expect } from "@effect/vitest"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { SendingReader } from "../../src/campaigns/SendingReader.ts"

const { test } = testsOnDatabase()

test("a campaign that is under way shows the reasons why its messages weren't accepted, and its paused domains", function* () {
  const { campaign, organization } = yield* seedCampaign({ recipients: 2 })
  yield* sendCampaign(campaign.id)
  const reader = yield* SendingReader
  const { settle } = yield* Settlements
  const [one, other] = yield* claimMessages(2)
  const failure = { class: "timeout", code: "ETIMEDOUT" } as const
  yield* settle(one!, { state: "retry", attempts: 0, delaySeconds: 60, failure })
  yield* settle(other!, { state: "retry", attempts: 0, delaySeconds: 3600, refusedWith: "550 5.7.1" })
  const state = yield* reader.find({ organizationId: organization.id, campaignId: campaign.id })
  expect(state.failures).toEqual([{ ...failure, messages: 1 }])
  expect(state.pauses).toMatchObject([{ status: "550 5.7.1" }])
  expect(yield* reader.underWay(1)).toEqual({ count: 1, newest: [state] })
  // A campaign that doesn't send comes before a newer one that does.
  const moving = (yield* seedCampaign({ recipients: 2 })).campaign
  yield* sendCampaign(moving.id)
  const [message] = yield* claimMessages(1)
  yield* settleSent(message!)
  expect((yield* reader.listOpen(null, 2)).map(({ id }) => id)).toEqual([campaign.id, moving.id])
})
