import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign, updateCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { column, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeEach, describe, expect } from "vitest"

const { run, test } = testsOnDatabase()

beforeEach(() => run(resetSending))

/** Seeds a sending campaign that complaints can pause, with this number of accepted messages. */
const sending = Effect.fnUntraced(function* (options: { readonly sent: number; readonly asks?: boolean }) {
  const { campaign, organization } = yield* seedCampaign({ recipients: 10 })
  if (options.asks !== false) yield* updateCampaign(campaign.id, { pauseOnComplaints: true })
  yield* sendCampaign(campaign.id)
  yield* sql`
    insert into campaign_count_changes (organization_id, campaign_id, sent, answered)
    values (${organization.id}, ${campaign.id}, ${options.sent}, ${options.sent})`
  return { campaignId: campaign.id, organizationId: organization.id }
})

/** Records complaints of a range of recipients; `to` is exclusive. */
const complain = Effect.fnUntraced(function* (campaignId: CampaignId, from: number, to: number) {
  const ids = yield* column<RecipientId>`select id from recipients where campaign_id = ${campaignId} order by id`
  yield* Effect.forEach(ids.slice(from, to), (id) => reportComplaint(id, "abuse"), { concurrency: "unbounded" })
})

const look = Effect.flatMap(CampaignRepository, ({ pauseOnComplaints }) => pauseOnComplaints)
/** Resumes a campaign regardless of preflight findings, and starts sending. */
const resume = Effect.fnUntraced(function* (campaignId: CampaignId) {
  yield* scheduleCampaign(campaignId, { command: "resume" })
  yield* sendCampaign(campaignId).pipe(Effect.ignore)
})

describe("a campaign with a complaint limit", () => {
  test("is paused at three complaints and three in a thousand, with the time and the reason", function* () {
    const { campaignId } = yield* sending({ sent: 1334 })
    yield* complain(campaignId, 0, 3)
    expect(yield* look).toEqual([])
    yield* complain(campaignId, 3, 4)
    expect(yield* look).toEqual([])
    yield* sql`
      insert into campaign_count_changes (organization_id, campaign_id, sent)
      select organization_id, id, -1 from campaigns where id = ${campaignId}`
    expect(yield* look).toEqual([{ campaignId, sent: 1333, complained: 4 }])
    const paused = yield* (yield* CampaignRepository).find(campaignId)
    expect(paused).toMatchObject({
      status: "paused",
      stoppedAt: expect.any(String),
      stoppedBy: "a worker",
      stopReason: "4 of the 1333 who were sent it reported it as unwanted",
    })
    expect(yield* look).toEqual([])
  })

  test("is the only paused campaign", function* () {
    const { campaignId } = yield* sending({ sent: 10, asks: false })
    yield* complain(campaignId, 0, 9)
    expect(yield* look).toEqual([])
    yield* updateCampaign(campaignId, { pauseOnComplaints: true })
    expect(yield* look).toHaveLength(1)
  })

  test("continues after it is resumed, until there is a new complaint", function* () {
    const { campaignId } = yield* sending({ sent: 100 })
    yield* complain(campaignId, 0, 3)
    expect(yield* look).toHaveLength(1)
    yield* complain(campaignId, 3, 5)
    yield* resume(campaignId)
    expect(yield* (yield* CampaignRepository).find(campaignId)).toMatchObject({ stoppedAt: null, stopReason: null })
    yield* complain(campaignId, 0, 5)
    expect(yield* look).toEqual([])
    yield* complain(campaignId, 5, 6)
    expect(yield* look).toEqual([{ campaignId, sent: 100, complained: 6 }])
  })

  test("is paused once, with concurrent complaints and checks", function* () {
    const { campaignId } = yield* sending({ sent: 2000 })
    const checks = Effect.replicateEffect(look, 6, { concurrency: "unbounded" })
    const [before] = yield* Effect.all([checks, complain(campaignId, 0, 6)], { concurrency: "unbounded" })
    const paused = [...before, ...(yield* checks)].flat()
    expect(paused).toEqual([{ campaignId, sent: 2000, complained: 6 }])
  })
})
