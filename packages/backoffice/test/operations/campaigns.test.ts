import { describe, expect } from "@effect/vitest"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { TestMailSettings } from "@outreach/mail/smtpSettings"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Layer } from "effect"
import { preflightCampaign } from "../../src/operations/campaignReports.ts"
import {
  cancelCampaign,
  duplicateCampaign,
  scheduleCampaign,
  testCampaign,
  updateCampaign,
} from "../../src/operations/campaigns.ts"

const withoutMail = Layer.succeed(TestMailSettings, Effect.succeed(null))
const { test } = testsOnDatabase({ layer: withoutMail })

const seed = Effect.map(seedCampaign({ recipients: 2, opensIn: 3600 }), ({ campaign, ...seeded }) => ({
  ...seeded,
  campaignId: campaign.id,
}))

describe("campaigns", () => {
  test("are changed unless they are over", function* () {
    const { campaignId } = yield* seed
    const update = (changes: object) => updateCampaign.run({ campaignId, ...changes }, "Dana")
    expect(yield* update({ perMinute: 250 })).toMatchObject({ perMinute: 250, pauseOnComplaints: false })
    expect(yield* update({ pauseOnComplaints: true })).toMatchObject({ perMinute: 250, pauseOnComplaints: true })
    const changed = yield* update({ perMinute: null, pauseOnComplaints: false })
    expect(changed).toMatchObject({ perMinute: null, pauseOnComplaints: false })
    expect(changed).not.toHaveProperty("html")
    yield* commandCampaign(campaignId, "cancel")
    expect(yield* Effect.flip(update({ perMinute: 1 }))).toMatchObject({ _tag: "CampaignNotInStatus" })
  })

  test("are scheduled and cancelled by a plan that names their recipients, unless they are over", function* () {
    const { campaignId, organization } = yield* seed
    const affected = { many: "2 of 2 recipients", affects: { id: organization.id } }
    const scheduling = yield* scheduleCampaign.plan!({ campaignId })
    expect(scheduling).toMatchObject({ ...affected, when: "When sending starts", values: { force: [] } })
    expect(scheduling.caution).toBeUndefined()
    const cancelling = yield* cancelCampaign.plan!({ campaignId })
    expect(cancelling).toMatchObject({ ...affected, title: "Cancel “Spring”", caution: { word: "Spring" } })
    const cancelled = yield* cancelCampaign.run({ campaignId, reason: "the list is wrong" }, "Dana")
    expect(cancelled).toMatchObject({ status: "cancelled", stoppedBy: "Dana", stopReason: "the list is wrong" })
    for (const { plan } of [scheduleCampaign, cancelCampaign]) {
      const planned = yield* plan!({ campaignId })
      expect(planned).toMatchObject({ obstacle: expect.stringContaining("is cancelled"), caution: undefined })
    }
  })

  test("are edited and duplicated without returning their bodies, and the next step of a draft is a command", function* () {
    const { campaignId } = yield* seed
    const edited = yield* updateCampaign.run({ campaignId, name: "Autumn", preheader: "News" }, "Dana")
    expect(edited).toMatchObject({ name: "Autumn", preheader: "News" })
    const copy = yield* duplicateCampaign.run({ campaignId }, "Dana")
    expect(copy).toMatchObject({ name: "Copy of Autumn", status: "draft" })
    for (const result of [edited, copy]) expect(result).not.toHaveProperty("html")
    const { next, checks } = yield* preflightCampaign.run({ campaignId: copy.id }, "Dana")
    expect(next).toBe(`ops recipients import list.csv --campaign ${copy.id}`)
    expect(preflightCampaign.show!({ campaignId, next, checks }, { campaignId })).toContain(`Next step: ${next}`)
    yield* scheduleCampaign.run({ campaignId }, "Dana", edited.editedAt)
    expect((yield* preflightCampaign.run({ campaignId }, "Dana")).next).toBeNull()
  })

  test("are not tested without a mail server", function* () {
    const { campaignId } = yield* seed
    const sent = testCampaign.run({ campaignId, to: "me@acme.test" as never }, "Dana")
    expect(yield* Effect.flip(sent)).toMatchObject({ _tag: "NoMailServer" })
  })
})
