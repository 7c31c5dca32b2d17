import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce, reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { applyUnsubscriptions, UnsubscriptionRepository } from "@outreach/domain/suppressions/Unsubscriptions"
import { CampaignCounts } from "@outreach/postgres/campaigns/campaignChanges"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign, sendWith } from "@outreach/testing/sendCampaign"
import { column, sql, value, withTimestamp } from "@outreach/testing/sql"
import { Effect } from "effect"
import fc from "fast-check"
import { beforeEach, describe, expect, it } from "vitest"
import { carryOut, operation } from "./campaignHistory.ts"
import { countCampaign, keep, keptRows, progressOf, seed } from "./countCampaign.ts"

const { run, test } = testsOnDatabase()

beforeEach(() => run(resetSending))

describe("the counts of a campaign", () => {
  test("include opens and clicks with and without bots, and recipients by funnel stage after the e-mail", function* () {
    const { campaign, organization } = yield* seed
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(3)
    for (const lease of leases) yield* sendWith(lease, { _tag: "Accepted" })
    const [a, b] = leases.map(({ recipientId }) => recipientId)
    const hits = [
      [a!, "bot opened"],
      [a!, "bot clicked"],
      [b!, "human opened"],
    ] as const
    yield* withTimestamp(organization.id, (at) => outreachOn(at, campaign, hits))
    const npis = yield* column<string>`
      select npi from recipients where campaign_id = ${campaign.id} and (sent_at is null or id = ${a!})`
    const qualified = npis.map((npi) => ({ npi, programId: campaign.programId }))
    const reached = qualified.flatMap((who) =>
      (["account_created", "learner_qualified"] as const).map((stage) => ({ ...who, stage })),
    )
    yield* withTimestamp(organization.id, (at) =>
      Effect.andThen(qualifyOn(organization.id, reached, at), outreachOn(at, campaign, [[a!, "human opened"]])),
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

  test("include late refusals by cause and domain, once each and without messages that bounced", function* () {
    const { campaign, organization } = yield* seed
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(4)
    for (const lease of leases) yield* sendWith(lease, { _tag: "Accepted" })
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
    const counted = { refusedLater: 2, bounced: 2, sent: 4 }
    expect(yield* progressOf(campaign.id)).toMatchObject(counted)
    expect(
      yield* sql`
      select cause from late_refusals join recipients on id = recipient_id and bounced_at is null
      where late_refusals.campaign_id = ${campaign.id} order by cause`,
    ).toEqual([{ cause: "expired" }, { cause: "policy" }])
    expect(yield* sql`select reason from suppressions where organization_id = ${organization.id}`).toHaveLength(2)
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

  test("are correct after concurrent and repeated reports on one domain, while other messages are settled", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 20 })
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(20)
    const [sent, others] = [leases.slice(0, 12), leases.slice(12)]
    for (const lease of sent) yield* sendWith(lease, { _tag: "Accepted" })
    const blocked = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Listed" } as const
    const gone = { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 Disabled" } as const
    const late = sent.flatMap(({ recipientId }, i) =>
      [blocked, i % 3 === 0 ? gone : blocked].map((verdict) => reportBounce(recipientId, verdict)),
    )
    const settled = others.map((lease, i) => sendWith(lease, [blocked, gone, { _tag: "Accepted" } as const][i % 3]!))
    yield* Effect.all([...late, ...settled], { concurrency: "unbounded", discard: true })
    const counted = { sent: 14, bounced: 7, refusedLater: 8 }
    expect(yield* progressOf(campaign.id)).toMatchObject(counted)
    expect((yield* keep(campaign.id)).queue).toEqual((yield* countCampaign(campaign.id)).queue)
  })
})

/** A template that only renders after an import of more fields, and a mail log that shows the message as sent. */
const NEW_FIELDS = [
  ...(["publish", "quarantine"] as const).map((step) => ({ do: step })),
  ...[0, 1, 2, 3].map((who) => ({ do: "fields" as const, who, name: "Ann" })),
  { do: "restore" as const, who: 0 },
]

it("the counts of a campaign equal a recount of its rows after any imports, publications, sends, withdrawals, hits and erasures", () =>
  fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 25 }), (operations) =>
      run(function* () {
        const seeded = yield* seed
        const { id } = seeded.campaign
        for (const operation of operations) yield* carryOut(seeded, operation)
        expect(yield* keep(id)).toEqual(yield* countCampaign(id))
        const kept = yield* progressOf(id)
        yield* (yield* CampaignCounts).fold
        expect(yield* keep(id)).toEqual(yield* countCampaign(id))
        expect(yield* progressOf(id)).toEqual(kept)
        yield* resetSending
      }),
    ),
    { numRuns: propertyRuns(3), examples: [[NEW_FIELDS]] },
  ))

describe("the complaints and unsubscriptions of a campaign", () => {
  const recipientsOf = Effect.fnUntraced(function* (campaignId: string) {
    return yield* sql<{ id: RecipientId; isErased: boolean }>`
      select id, erased_at is not null as "isErased" from recipients where campaign_id = ${campaignId} order by id`
  })

  const HOUR = 3600
  const hourNow = value<number>`select extract(epoch from date_trunc('hour', clock_timestamp(), 'UTC'))::int as hour`

  /** Moves all counts back by an hour, through unused hours to avoid key conflicts. */
  const wait = Effect.gen(function* () {
    for (const table of ["campaign_counts", "campaign_count_changes"]) {
      yield* sql`update ${sql(table)} set hour = hour - interval '1000 hours' where isfinite(hour)`
      yield* sql`update ${sql(table)} set hour = hour + interval '999 hours' where isfinite(hour)`
    }
  })

  const keptHours = Effect.fnUntraced(function* (campaignId: string) {
    return yield* sql<Count>`
      select name, extract(epoch from hour)::int as hour, sum(count)::int as count
      from ${keptRows(campaignId)}
      cross join lateral (values ('complained', complained), ('unsubscribed', unsubscribed)) counted (name, count)
      where count <> 0 group by 1, 2 having sum(count) <> 0 order by 1, 2`
  })

  const step = fc.record({
    do: fc.constantFrom(
      ...(["complain", "opt out", "unsubscribe", "unsubscribe from the program", "take back"] as const),
      ...(["apply", "erase", "fold", "wait"] as const),
    ),
    who: fc.nat({ max: 2 }),
  })
  it("include complaints and current unsubscriptions after repetitions and revocations", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) =>
        run(function* () {
          const { campaign, organization } = yield* seed
          const unsubscriptions = yield* UnsubscriptionRepository
          const [complained, unsubscribed] = [new Set<RecipientId>(), new Set<RecipientId>()]
          let hours: ReadonlyArray<Count> = []
          for (const { do: name, who } of steps) {
            const { id, isErased } = (yield* recipientsOf(campaign.id))[who]!
            const recipient = { organizationId: organization.id, recipientId: id }
            if (name === "complain") yield* reportComplaint(id, "abuse")
            if (name === "opt out") yield* reportComplaint(id, "opt-out")
            if (name === "unsubscribe") yield* unsubscriptions.ask(recipient)
            if (name === "unsubscribe from the program") yield* unsubscriptions.ask(recipient, "program")
            if (name === "take back") yield* unsubscriptions.revoke(recipient)
            if (name === "apply") yield* applyUnsubscriptions
            if (name === "erase") yield* eraseRecipients(organization.id, [id])
            if (name === "fold") yield* (yield* CampaignCounts).fold
            if (name === "wait") {
              yield* wait
              hours = hours.map((each) => ({ ...each, hour: each.hour - HOUR }))
            }
            if (isErased) continue
            const before = [complained.size, unsubscribed.size] as const
            if (name === "complain") complained.add(id)
            if (name === "take back") unsubscribed.delete(id)
            else if (name.startsWith("unsubscribe") || name === "opt out") unsubscribed.add(id)
            const hour = yield* hourNow
            hours = [
              ...hours,
              { name: "complained", hour, count: complained.size - before[0] },
              { name: "unsubscribed", hour, count: unsubscribed.size - before[1] },
            ]
          }
          const counts = { complained: complained.size, unsubscribed: unsubscribed.size }
          expect(yield* progressOf(campaign.id)).toMatchObject(counts)
          const expected = sumHours(hours)
          expect(yield* keptHours(campaign.id)).toEqual(expected)
          yield* (yield* CampaignCounts).fold
          expect(yield* progressOf(campaign.id)).toMatchObject(counts)
          expect(yield* keptHours(campaign.id)).toEqual(expected)
        }),
      ),
      { numRuns: propertyRuns(3) },
    ))

  test("count concurrent repetitions once", function* () {
    const { campaign, organization } = yield* seed
    const { id } = (yield* recipientsOf(campaign.id))[0]!
    const recipient = { organizationId: organization.id, recipientId: id }
    const { ask, revoke } = yield* UnsubscriptionRepository
    const atOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.replicateEffect(effect, 8, { concurrency: "unbounded" })
    yield* atOnce(reportComplaint(id, "abuse"))
    expect(yield* progressOf(campaign.id)).toMatchObject({ complained: 1, unsubscribed: 0 })
    for (const [effect, unsubscribed] of [
      [ask(recipient), 1],
      [revoke(recipient), 0],
      [ask(recipient), 1],
    ] as const) {
      yield* atOnce(effect)
      expect(yield* progressOf(campaign.id)).toMatchObject({ complained: 1, unsubscribed })
    }
  })
})

interface Count {
  readonly name: string
  readonly hour: number
  readonly count: number
}

const sumHours = (counts: ReadonlyArray<Count>): ReadonlyArray<Count> => {
  const sums = new Map<string, Count>()
  for (const { name, hour, count } of counts) {
    const key = `${name} ${hour}`
    sums.set(key, { name, hour, count: (sums.get(key)?.count ?? 0) + count })
  }
  return [...sums.values()]
    .filter(({ count }) => count !== 0)
    .sort((one, other) => one.name.localeCompare(other.name) || one.hour - other.hour)
}
