import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { FunnelStage } from "@outreach/domain/digest/Digest"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { Mailer, type MailOutcome } from "@outreach/domain/mail/Mailer"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { sendMessage } from "@outreach/domain/mail/Outreach"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { markMailed } from "@outreach/domain/restores/Restores"
import { suppressClinicians, withdrawSuppressed } from "@outreach/domain/suppressions/Withdrawals"
import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { type Outcome, outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { beforeEach, describe, expect, it } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

beforeEach(() => run(resetSending))

type Counts = Readonly<Record<string, number | string>>

/** Counts a campaign from its rows, by subject. */
const count = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Counts>`
    select coalesce(test_subject, '') as subject, count(*)::int as recipients, count(published_at)::int as published,
      count(withdrawn_at)::int as withdrawn, count(sent_at)::int as sent, count(bounced_at)::int as bounced,
      (count(*) filter (where sent_at is not null or bounced_at is not null))::int as answered,
      count(opened_on)::int as opened, count(unsuspected_clicked_on)::int as unsuspected_clicked
    from recipients recipient where campaign_id = ${campaignId} group by test_subject order by 1`
  const queue = yield* sql<Counts>`
    select (count(*) filter (where quarantined_at is null))::int as queued, (count(*) filter (where attempts > 0))::int as deferred,
      (count(*) filter (where unknown_outcomes > 0 and quarantined_at is null))::int as unknown, count(quarantined_at)::int as quarantined
    from messages where campaign_id = ${campaignId}`
  const hours = yield* sql<Counts>`
    select extract(epoch from hour)::int as hour, sum(sent)::int as sent, sum(bounced)::int as bounced from (
      select date_trunc('hour', sent_at) as hour, 1 as sent, 0 as bounced from recipients where campaign_id = ${campaignId}
      union all select date_trunc('hour', bounced_at), 0, 1 from recipients where campaign_id = ${campaignId}
    ) each where hour is not null group by 1 order by 1`
  return { subjects: rows, queue: queue[0], hours }
})

/** The same as it is kept. */
const keep = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const sql = yield* SqlClient.SqlClient
  const all = sql`(
    select counts.* from campaigns cross join lateral counts_of_campaign(organization_id, campaigns.id) counts where campaigns.id = ${campaignId}
  ) each`
  const rows = yield* sql<Counts>`
    select subject, sum(recipients)::int as recipients, sum(published)::int as published, sum(withdrawn)::int as withdrawn,
      sum(sent)::int as sent, sum(bounced)::int as bounced, sum(answered)::int as answered, sum(opened)::int as opened,
      sum(unsuspected_clicked)::int as unsuspected_clicked
    from ${all} group by subject having sum(recipients) <> 0 order by 1`
  const queue = yield* sql<Counts>`
    select sum(queued)::int as queued, sum(deferred)::int as deferred, sum(unknown)::int as unknown, sum(quarantined)::int as quarantined
    from ${all}`
  const hours = yield* sql<Counts>`
    select extract(epoch from hour)::int as hour, sum(sent)::int as sent, sum(bounced)::int as bounced
    from ${all} where sent <> 0 or bounced <> 0 group by 1 order by 1`
  return { subjects: rows, queue: queue[0], hours }
})

/** The domain's progress, without the last minute. */
const progressOf = Effect.fnUntraced(function* (campaignId: CampaignId) {
  return yield* (yield* CampaignRepository).progress(campaignId)
})

const settle = (lease: MessageLease, outcome: MailOutcome) => {
  const mailer = Mailer.of({ send: (_mail, _lease, record) => record(outcome) })
  const sending = { campaignId: lease.campaignId, beginBy: 0n, begin: () => {}, isHeld: () => true }
  return sendMessage(lease, {} as never, { sending, answered: Effect.void }).pipe(Effect.provideService(Mailer, mailer))
}

const OUTCOMES: ReadonlyArray<MailOutcome> = [
  { _tag: "Accepted" },
  { _tag: "Bounced", reason: "mailbox_not_found" },
  { _tag: "Bounced", reason: "other" },
  { _tag: "Deferred" },
  { _tag: "Refused", status: "550 5.7.1" },
  { _tag: "Unreachable", failure: { class: "slow", code: "ETIMEDOUT at DATA" } },
  { _tag: "Unknown", failure: { class: "reset", code: "ECONNRESET" } },
]

const who = fc.nat({ max: 9 })
const operation = fc.oneof(
  fc.record({ do: fc.constant("import" as const), first: who }),
  fc.record({ do: fc.constant("publish" as const) }),
  fc.record({ do: fc.constant("send" as const), limit: fc.nat({ max: 4 }), outcome: fc.constantFrom(...OUTCOMES) }),
  fc.record({ do: fc.constant("quarantine" as const) }),
  fc.record({ do: fc.constant("suppress" as const), who }),
  fc.record({
    do: fc.constant("hit" as const),
    who,
    outcome: fc.constantFrom<Outcome>("human opened", "bot opened", "human clicked", "bot clicked"),
  }),
  fc.record({ do: fc.constant("bounce" as const), who }),
  fc.record({ do: fc.constant("erase" as const), who }),
  fc.record({
    do: fc.constant("qualify" as const),
    who,
    stage: fc.constantFrom<FunnelStage>("account_created", "learner_qualified", "completer_qualified"),
  }),
  fc.record({ do: fc.constant("fields" as const), who, name: fc.string() }),
  fc.record({ do: fc.constant("restore" as const), who }),
  fc.record({ do: fc.constant("fold" as const) }),
  fc.record({ do: fc.constant("cancel" as const) }),
)
type Operation = typeof operation extends fc.Arbitrary<infer A> ? A : never

const seed = (isTest: boolean) =>
  seedCampaign({
    recipients: 4,
    ...(isTest && { subjectTest: { subjectB: "Another subject", share: 100, afterSeconds: null } }),
  })

const carryOut = Effect.fnUntraced(function* (
  { campaign, organization }: Effect.Success<ReturnType<typeof seed>>,
  operation: Operation,
) {
  const sql = yield* SqlClient.SqlClient
  // Nobody has an e-mail to open before its subject is chosen.
  const recipientsOf = sql<{ id: RecipientId }>`
    select id from recipients where campaign_id = ${campaign.id} and (${operation.do !== "hit"} or published_at is not null) order by npi`
  const some = Effect.map(recipientsOf, (rows) => ("who" in operation ? rows[operation.who % rows.length]! : rows[0]!))
  switch (operation.do) {
    case "import": {
      const lines = [0, 1, 2].map((n) => ({
        number: n,
        npi: npi(operation.first + n),
        email: email(operation.first + n),
      }))
      return yield* Effect.ignore(importLines(campaign.id, lines))
    }
    case "publish":
      yield* Effect.ignore(scheduleCampaign(campaign.id))
      while (yield* publishChunk()) {}
      return yield* (yield* CampaignRepository).openAndComplete
    case "send":
      yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaign.id} and due_at < 'infinity'`
      yield* sql`delete from domain_pauses where campaign_id = ${campaign.id}`
      for (const lease of yield* claimMessages(operation.limit)) yield* settle(lease, operation.outcome)
      return
    case "quarantine":
      for (const lease of yield* claimMessages(1)) {
        const failure = { class: "template", code: "needs first_name, which is missing" } as const
        yield* (yield* Settlements).settle(lease, { state: "unrendered", failure })
      }
      return
    case "suppress":
      yield* suppressClinicians(
        { organizationId: organization.id },
        [{ npi: npi(operation.who), email: null }],
        "operator",
      )
      return yield* withdrawSuppressed
    case "hit": {
      const recipient = yield* some
      if (recipient === undefined) return
      const hit = [recipient.id, operation.outcome] as const
      return yield* inTransaction(
        Effect.gen(function* () {
          yield* outreachOn(yield* commitTimestamp(organization.id), campaign, [hit])
        }),
      )
    }
    case "bounce":
      return yield* reportBounce((yield* some).id, { _tag: "Bounced", reason: "mailbox_disabled" })
    case "erase":
      return yield* eraseRecipients(organization.id, [(yield* some).id])
    case "qualify":
      return yield* inTransaction(
        Effect.gen(function* () {
          const clinician = { programId: campaign.programId, stage: operation.stage, npi: npi(operation.who) }
          yield* qualifyOn(organization.id, [clinician], yield* commitTimestamp(organization.id))
        }),
      )
    case "fields": {
      const clinician = { npi: npi(operation.who), fields: { first_name: operation.name.replaceAll("\0", "") } }
      const key = { organizationId: organization.id, campaignId: campaign.id }
      return yield* (yield* RecipientRepository).keepFields(key, [clinician])
    }
    case "restore":
      return yield* markMailed([(yield* some).id])
    case "fold":
      return yield* (yield* CampaignCounts).fold
    case "cancel":
      return yield* Effect.ignore(commandCampaign(campaign.id, "pause"))
  }
})

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
              const { id } = seeded.campaign
              for (const operation of operations) yield* carryOut(seeded, operation)
              expect(yield* keep(id)).toEqual(yield* count(id))
              const kept = yield* progressOf(id)
              yield* (yield* CampaignCounts).fold
              expect(yield* keep(id)).toEqual(yield* count(id))
              expect(yield* progressOf(id)).toEqual(kept)
              yield* resetSending
            }),
          ),
        ),
        { numRuns: 4 },
      ),
  )

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
    expect(yield* keep(campaign.id)).toEqual(yield* count(campaign.id))
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
