import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { markMailed } from "@outreach/domain/restores/Restores"
import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect } from "vitest"
import { countCampaign, keep, progressOf, seed, settle } from "./countCampaign.ts"

const run = runOnDatabase()
const test = effectTest(run)

beforeEach(() => run(resetSending))

describe("the counts of a campaign", () => {
  test("count a message as queued again once its fields are imported, and none that a mail log shows as sent", function* () {
    const { campaign, organization } = yield* seed(false)
    yield* sendCampaign(campaign.id)
    const [lease] = yield* claimMessages(1)
    const failure = { class: "template", code: "needs first_name, which is missing" } as const
    yield* (yield* Settlements).settle(lease!, { state: "unrendered", failure })
    expect(yield* progressOf(campaign.id)).toMatchObject({ queued: 3, quarantined: 1 })
    const recipient = yield* (yield* RecipientRepository).find(organization.id, lease!.token)
    const clinician = { npi: recipient!.npi, fields: { first_name: "Ann" } }
    yield* (yield* RecipientRepository).keepFields({ organizationId: organization.id, campaignId: campaign.id }, [
      clinician,
    ])
    expect(yield* progressOf(campaign.id)).toMatchObject({ queued: 4, quarantined: 0 })
    yield* markMailed([lease!.recipientId])
    expect(yield* progressOf(campaign.id)).toMatchObject({ queued: 3, sent: 1, answered: 1 })
    expect(yield* keep(campaign.id)).toEqual(yield* countCampaign(campaign.id))
  })

  test("tell who opened and clicked, as a bot or not, and who came how far after the e-mail was sent", function* () {
    const { campaign, organization } = yield* seed(false)
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(3)
    for (const lease of leases) yield* settle(lease, { _tag: "Accepted" })
    const [a, b] = leases.map(({ recipientId }) => recipientId)
    const sql = yield* SqlClient.SqlClient
    yield* inTransaction(
      Effect.gen(function* () {
        const at = yield* commitTimestamp(organization.id)
        yield* outreachOn(at, campaign, [
          [a!, "bot opened"],
          [a!, "bot clicked"],
          [b!, "human opened"],
        ])
      }),
    )
    const unsent = yield* sql<{
      npi: string
    }>`select npi from recipients where campaign_id = ${campaign.id} and sent_at is null`
    const sent = yield* sql<{ npi: string }>`select npi from recipients where id = ${a!}`
    const qualified = [...unsent, ...sent].map(({ npi }) => ({ npi, programId: campaign.programId }))
    yield* inTransaction(
      Effect.gen(function* () {
        const at = yield* commitTimestamp(organization.id)
        const reached = qualified.flatMap((who) =>
          (["account_created", "learner_qualified"] as const).map((stage) => ({ ...who, stage })),
        )
        yield* qualifyOn(organization.id, reached, at)
        yield* outreachOn(at, campaign, [[a!, "human opened"]])
      }),
    )
    const totals = sql`
      select opened::int, clicked::int, unsuspected_opened::int as "unsuspectedOpened", unsuspected_clicked::int as "unsuspectedClicked",
        accounts::int, learners::int, completers::int
      from campaign_totals(${organization.id}, ${campaign.id})`
    const expected = [
      { opened: 2, clicked: 1, unsuspectedOpened: 2, unsuspectedClicked: 0, accounts: 1, learners: 1, completers: 0 },
    ]
    expect(yield* totals).toEqual(expected)
    yield* (yield* CampaignCounts).fold
    expect(yield* totals).toEqual(expected)
  })

  test("tell which messages were refused later, by cause and domain, once each and without those that bounced after all", function* () {
    const { campaign, organization } = yield* seed(false)
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(4)
    for (const lease of leases) yield* settle(lease, { _tag: "Accepted" })
    const [a, b, c, d] = leases.map(({ recipientId }) => recipientId)
    const blocked = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Your address is listed" } as const
    const expired = { _tag: "Deferred", reply: "451 4.4.1 No answer" } as const
    const gone = { _tag: "Bounced", reason: "mailbox_disabled" } as const
    const reports = [
      ...([
        [a, blocked, "refused"],
        [a, blocked, "repeated"],
        [a, expired, "repeated"],
        [b, blocked, "refused"],
      ] as const),
      ...([
        [c, expired, "refused"],
        [d, gone, "recorded"],
        [d, blocked, "repeated"],
      ] as const),
      ...([
        [b, gone, "recorded"],
        [b, gone, "repeated"],
        [b, expired, "repeated"],
      ] as const),
    ]
    for (const [who, verdict, result] of reports) expect(yield* reportBounce(who!, verdict)).toBe(result)

    const sql = yield* SqlClient.SqlClient
    const counted = { refusedLater: 2, bounced: 2, sent: 4 }
    expect(yield* progressOf(campaign.id)).toMatchObject(counted)
    expect(
      yield* sql`
      select domain, cause, messages from late_refusal_counts where campaign_id = ${campaign.id} order by cause`,
    ).toEqual([
      { domain: "clinic.test", cause: "expired", messages: 1 },
      { domain: "clinic.test", cause: "policy", messages: 1 },
    ])
    expect(
      yield* sql`
      select reason from organization_suppressions where organization_id = ${organization.id}`,
    ).toHaveLength(2)
    expect(
      yield* sql`
      select count(*)::int as events from events where campaign_id = ${campaign.id} and type = 'outreach.email_bounced'`,
    ).toEqual([{ events: 2 }])
    yield* eraseRecipients(organization.id, [a!])
    expect(yield* reportBounce(a!, expired)).toBe("unknown")
    expect(yield* progressOf(campaign.id)).toMatchObject(counted)
    expect(
      yield* sql`select recipient_id as id from late_refusals where campaign_id = ${campaign.id} order by refused_at`,
    ).toEqual([{ id: b }, { id: c }])
  })

  test("are right after reports on one domain that come at once, some of them twice, while other messages are settled", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 40 })
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(40)
    const [sent, others] = [leases.slice(0, 24), leases.slice(24)]
    for (const lease of sent) yield* settle(lease, { _tag: "Accepted" })
    const blocked = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Listed" } as const
    const gone = { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 Disabled" } as const
    const late = sent.flatMap(({ recipientId }, i) =>
      [blocked, i % 3 === 0 ? gone : blocked].map((verdict) => reportBounce(recipientId, verdict)),
    )
    const settled = others.map((lease, i) => settle(lease, [blocked, gone, { _tag: "Accepted" } as const][i % 3]!))
    yield* Effect.all([...late, ...settled], { concurrency: "unbounded", discard: true })
    const counted = { sent: 29, bounced: 13, refusedLater: 16 }
    expect(yield* progressOf(campaign.id)).toMatchObject(counted)
    expect((yield* keep(campaign.id)).queue).toEqual((yield* countCampaign(campaign.id)).queue)
  })
})
