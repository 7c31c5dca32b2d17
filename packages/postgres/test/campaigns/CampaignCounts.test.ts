import { Settlements } from "@outreach/domain/mail/Settlements"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { markMailed } from "@outreach/domain/restores/Restores"
import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
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
})
