import { describe, expect } from "@effect/vitest"
import type { CampaignKey } from "@outreach/domain/campaigns/Campaign"
import { EventPublisher } from "@outreach/domain/events/Event"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce, reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/Unsubscriptions"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { draftsOf, qualifyOn } from "@outreach/testing/outreachOn"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { column, inTransaction, sql } from "@outreach/testing/sql"
import { Effect, Struct } from "effect"
import { CampaignReader } from "../../src/campaigns/CampaignReader.ts"
import {
  MAX_LISTED_SCAN,
  OutcomeReader,
  RECIPIENT_LISTS,
  type RecipientCursor,
  type RecipientListName,
} from "../../src/recipients/OutcomeReader.ts"

const { test } = testsOnDatabase()

/** Seeds a campaign of nine recipients, each with a different outcome. Returns their ids in the order of their NPIs. */
const seed = Effect.gen(function* () {
  yield* cancelCampaigns
  const { campaign, organization, program } = yield* seedCampaign({ recipients: 9 })
  const key = { organizationId: organization.id, campaignId: campaign.id }
  yield* sendCampaign(campaign.id)
  const ids = yield* column<RecipientId>`select id from recipients where campaign_id = ${campaign.id} order by npi`
  yield* suppressClinicians({ programId: program.id }, [{ npi: npi(8), email: null }], "operator")
  const { settle } = yield* Settlements
  for (const lease of yield* claimMessages(9)) {
    if (lease.recipientId !== ids[7]) yield* settleSent(lease)
    else {
      const failure = { class: "template", code: "no_first_name" } as const
      yield* settle(lease, { state: "retry", attempts: 0, delaySeconds: null, failure })
    }
  }
  const publish = (outcomes: Parameters<typeof draftsOf>[1]) =>
    Effect.flatMap(draftsOf(campaign, outcomes), (events) =>
      inTransaction(
        Effect.flatMap(commitTimestamp(organization.id), (at) =>
          EventPublisher.use(({ publish }) => publish(events, at)),
        ),
      ),
    )
  yield* publish([
    [ids[1]!, "human opened"],
    [ids[2]!, "bot opened"],
    [ids[3]!, "human clicked"],
    [ids[4]!, "bot clicked"],
  ])
  yield* reportBounce(ids[5]!, { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 Disabled" })
  yield* reportBounce(ids[6]!, { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Refused" })
  yield* reportComplaint(ids[1]!, "abuse")
  yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId: ids[3]! })
  const at = yield* inTransaction(commitTimestamp(organization.id))
  yield* qualifyOn(
    organization.id,
    [
      { programId: program.id, stage: "account_created", npi: npi(3) },
      { programId: program.id, stage: "learner_qualified", npi: npi(3) },
    ],
    at,
  )
  return { key, ids }
})

const list = Effect.fnUntraced(function* (key: CampaignKey, name: RecipientListName, limit: number) {
  const { page } = yield* OutcomeReader
  const found: Array<string> = []
  let next: RecipientCursor | null = null
  do {
    const { rows, next: after }: Effect.Success<ReturnType<typeof page>> = yield* page(key, name, limit, next)
    found.push(...rows.map(({ id }) => id))
    next = after
  } while (next !== null)
  return found
})

const EXPECTED: Readonly<Record<RecipientListName, ReadonlyArray<number>>> = {
  imported: [0, 1, 2, 3, 4, 5, 6, 7, 8],
  published: [0, 1, 2, 3, 4, 5, 6, 7, 8],
  sent: [0, 1, 2, 3, 4, 5, 6],
  bounced: [5],
  refused_later: [6],
  opened: [1],
  opened_with_bots: [1, 2],
  clicked: [3],
  clicked_with_bots: [3, 4],
  account_created: [3],
  learner_qualified: [3],
  completer_qualified: [],
  complained: [1],
  unsubscribed: [3],
  quarantined: [7],
  withdrawn: [8],
}

describe("the lists of a campaign's recipients", () => {
  test("contain the recipients of each outcome that the campaign's totals count, with any page size", function* () {
    const { key, ids } = yield* seed
    const totals = yield* (yield* CampaignReader).totals(key)
    for (const name of Struct.keys(RECIPIENT_LISTS)) {
      const expected = EXPECTED[name].map((n) => ids[n])
      for (const limit of [1, 2, 50]) {
        const found = yield* list(key, name, limit)
        expect({ name, limit, found: found.toSorted() }).toEqual({ name, limit, found: expected.toSorted() })
      }
      expect({ name, total: totals[RECIPIENT_LISTS[name].total] }).toEqual({ name, total: expected.length })
    }
    const { page } = yield* OutcomeReader
    const { rows } = yield* page(key, "bounced", 50, null)
    expect(rows).toMatchObject([
      { id: ids[5], state: "bounced", bounceReason: "mailbox_disabled", lastReply: "550 5.2.1 Disabled" },
    ])
    expect(rows[0]!.at).toBe(rows[0]!.bouncedAt)
    expect((yield* page(key, "withdrawn", 50, null)).rows).toMatchObject([{ withdrawalReason: "suppressed" }])
  })

  test("contain the state of each recipient, and neither the NPI nor the address of an erased one", function* () {
    const { key, ids } = yield* seed
    const read = Effect.gen(function* () {
      const { rows } = yield* (yield* OutcomeReader).page(key, "imported", 50, null)
      return ids.map((id) => rows.find((each) => each.id === id)!)
    })
    const sent = Array(5).fill("sent")
    const settled = [...sent, "bounced", "refused_later", "quarantined", "withdrawn"]
    expect((yield* read).map(({ state }) => state)).toEqual(settled)
    const resumed = "quarantined_at = null, failure_class = null, failure_code = null, unknown_outcomes = 1"
    for (const [change, state] of [
      [resumed, "unknown"],
      ["unknown_outcomes = 0, attempts = 1", "deferred"],
      ["attempts = 0", "published"],
    ] as const) {
      yield* sql`update messages set ${sql.literal(change)} where recipient_id = ${ids[7]!}`
      expect((yield* read)[7]!.state).toBe(state)
    }
    yield* sql`update recipients set erased_at = now() where id = ${ids[0]!}`
    expect((yield* read)[0]).toMatchObject({ state: "erased", npi: null, email: null })
  })

  test("read a bounded number of rows per page, continue after them, and include later events", function* () {
    const { key, ids } = yield* seed
    const other = yield* seed
    const crossed = { organizationId: key.organizationId, campaignId: other.key.campaignId }
    expect(yield* list(crossed, "imported", 50)).toEqual([])
    yield* sql`
      insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
      select organization_id, make_id('rcp'), campaign_id, program_id, 'aB3dE9', '1234567893', 'a@clinic.test', now(), now() + interval '1 day'
      from recipients cross join generate_series(1, ${MAX_LISTED_SCAN}::int) where id = ${ids[0]!}`
    const { page } = yield* OutcomeReader
    const first = yield* page(key, "clicked", 50, null)
    expect(first.rows).toEqual([])
    const second = yield* page(key, "clicked", 50, first.next)
    expect(second).toMatchObject({ rows: [{ id: ids[3] }], next: null })
    // An index contains only these.
    expect((yield* page(key, "bounced", 50, null)).rows).toHaveLength(1)
    yield* (yield* UnsubscriptionRepository).revoke({ organizationId: key.organizationId, recipientId: ids[3]! })
    yield* reportBounce(ids[6]!, { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 Disabled" })
    expect(yield* list(key, "unsubscribed", 50)).toEqual([])
    expect(yield* list(key, "refused_later", 50)).toEqual([])
    expect(yield* list(key, "bounced", 50)).toEqual([ids[6], ids[5]])
  })
})
