import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { CampaignCounts } from "@outreach/postgres/campaigns/campaignChanges"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign, sendWith } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { beforeEach, describe, expect } from "vitest"
import { CampaignReader } from "../../src/campaigns/CampaignReader.ts"

const { run, test } = testsOnDatabase()

beforeEach(() => run(resetSending))

const keyOf = ({ id, organizationId }: { id: CampaignId; organizationId: MessageLease["organizationId"] }) => ({
  organizationId,
  campaignId: id,
})

test("CampaignReader.list lists campaigns of one organization with their counts, newest first, page by page", function* () {
  const reader = yield* CampaignReader
  const { campaign, organization, program } = yield* seedCampaign({ recipients: 3 })
  const { campaign: other } = yield* seedCampaign({ recipients: 1 })
  const listed = yield* reader.list({ organizationId: organization.id }, 10)
  expect(listed).toMatchObject([
    {
      id: campaign.id,
      programName: program.name,
      organizationName: "Acme Health",
      totals: { recipients: 3, sent: 0 },
    },
  ])
  const ids = Effect.map(reader.list({}, 2), (rows) => rows.map(({ id }) => id))
  expect(yield* ids).toEqual([other.id, campaign.id])
  const older = yield* reader.list({ after: other, text: "SPRI", kind: "traffic", status: "draft" }, 10)
  expect(older[0]!.id).toBe(campaign.id)
  expect(yield* reader.list({ text: "winter" }, 10)).toEqual([])
})

describe("CampaignReader", () => {
  test("reads hours and domains of a campaign, paused domains first", function* () {
    const reader = yield* CampaignReader
    const { campaign } = yield* seedCampaign({ recipients: 3 })
    yield* importLines(campaign.id, [{ number: 2, npi: npi(70), email: email(70, "refusing.test") }])
    yield* sendCampaign(campaign.id)
    for (const lease of yield* claimMessages(9)) {
      const refused = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 blocked" } as const
      yield* sendWith(lease, lease.email.endsWith("refusing.test") ? refused : { _tag: "Accepted" })
    }
    expect(yield* reader.domains(keyOf(campaign), 10)).toMatchObject([
      { domain: "refusing.test", refused: 1, pausedUntil: expect.any(String), lastReply: "550 5.7.1 blocked" },
      { domain: "clinic.test", sent: 3, pausedUntil: null, lastReply: null },
    ])
    expect(yield* reader.domains(keyOf(campaign), 1)).toMatchObject([{ domain: "refusing.test" }])
    const before = yield* reader.hours(keyOf(campaign))
    expect(before).toMatchObject([{ sent: 3, bounced: 0 }])
    yield* (yield* CampaignCounts).fold
    expect(yield* reader.hours(keyOf(campaign))).toEqual(before)
    expect(yield* reader.samples(keyOf(campaign), 2)).toHaveLength(2)
  })

  test("reads late refusals by cause and by domain, most frequent first, without causes that no longer count", function* () {
    const reader = yield* CampaignReader
    const { campaign } = yield* seedCampaign({ recipients: 3 })
    yield* importLines(campaign.id, [{ number: 2, npi: npi(70), email: email(70, "refusing.test") }])
    yield* sendCampaign(campaign.id)
    const [first, ...others] = (yield* claimMessages(9)).toSorted((a, b) => (a.email < b.email ? -1 : 1))
    for (const lease of [first!, ...others]) yield* sendWith(lease, { _tag: "Accepted" })
    const blocked = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 clinician70 is not yours" } as const
    for (const { recipientId } of others) yield* reportBounce(recipientId, blocked)
    yield* reportBounce(first!.recipientId, { _tag: "Deferred" })
    yield* reportBounce(first!.recipientId, { _tag: "Bounced", reason: "mailbox_disabled" })
    const counts = [
      { domain: null, cause: "policy", messages: 3 },
      { domain: "clinic.test", cause: "policy", messages: 2 },
      { domain: "refusing.test", cause: "policy", messages: 1 },
    ]
    expect(yield* reader.lateRefusals(keyOf(campaign), 10)).toEqual(counts)
    expect(yield* reader.lateRefusals(keyOf(campaign), 2)).toEqual(counts.slice(0, 2))
    expect(yield* reader.totals(keyOf(campaign))).toMatchObject({ sent: 4, bounced: 1, refusedLater: 3 })
    expect(yield* reader.domains(keyOf(campaign), 10)).toMatchObject([
      { domain: "clinic.test", pausedUntil: expect.any(String) },
      { domain: "refusing.test", lastReply: "550 5.7.1 [address] is not yours" },
    ])
  })
})
