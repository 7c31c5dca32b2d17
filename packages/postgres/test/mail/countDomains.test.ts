import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { CampaignId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import type { MailOutcome } from "@outreach/domain/mail/Transport"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign, sendWith } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeEach, expect } from "vitest"

const { run, test } = testsOnDatabase()

beforeEach(() => run(resetSending))

const domains = Effect.fnUntraced(function* (campaignId: CampaignId) {
  return yield* sql`
    select domain, sent, deferred, refused, mailbox_not_found as "mailboxNotFound", other, last_reply as "lastReply",
      last_reply_at is not null as "hasReply"
    from campaign_domains where campaign_id = ${campaignId} order by domain`
})

test("the domains of a campaign count each domain's replies, and keep the last reply that isn't an acceptance", function* () {
  const { campaign, organization } = yield* seedCampaign({ recipients: 5 })
  yield* importLines(campaign.id, [{ number: 2, npi: npi(70), email: email(70, "Other.test") }])
  yield* sendCampaign(campaign.id)
  const leases = yield* claimMessages(9)
  const ofClinic = leases.filter(({ email }) => email.endsWith("@clinic.test"))
  const outcomes: ReadonlyArray<MailOutcome> = [
    { _tag: "Accepted", reply: "250 OK" },
    { _tag: "Bounced", reason: "mailbox_not_found", reply: "550 5.1.1 no such user" },
    { _tag: "Deferred", reply: "451 4.7.1 try later" },
    { _tag: "Unreachable", failure: { class: "timeout", code: "ETIMEDOUT at CONN" } },
    { _tag: "Accepted", reply: "250 OK" },
  ]
  for (const [i, lease] of ofClinic.entries()) yield* sendWith(lease, outcomes[i]!)
  const other = leases.find(({ email }) => !email.endsWith("@clinic.test"))!
  yield* sendWith(other, { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 blocked" })
  // A lost lease isn't counted.
  yield* sendWith(other, { _tag: "Accepted" })
  yield* reportBounce(ofClinic[0]!.recipientId, {
    _tag: "Bounced",
    reason: "mailbox_disabled",
    reply: "550 5.2.1 disabled",
  })

  const none = { sent: 0, deferred: 0, refused: 0, mailboxNotFound: 0, other: 0, hasReply: true }
  const clinic = { ...none, domain: "clinic.test", sent: 2, deferred: 1, mailboxNotFound: 1 }
  const refusing = { ...none, domain: "other.test", refused: 1, lastReply: "550 5.7.1 blocked" }
  expect(yield* domains(campaign.id)).toEqual([{ ...clinic, lastReply: "550 5.2.1 disabled" }, refusing])

  yield* eraseRecipients(organization.id, [ofClinic[4]!.recipientId])
  expect(yield* domains(campaign.id)).toEqual([{ ...clinic, lastReply: null }, refusing])
})
