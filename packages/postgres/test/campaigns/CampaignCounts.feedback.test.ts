import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportComplaint } from "@outreach/domain/mail/Complaints"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { effectTest } from "@outreach/testing/effectTest"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { progressOf, seed } from "./countCampaign.ts"

const run = runOnDatabase()
const test = effectTest(run)

describe("the counts of a campaign", () => {
  const recipientsOf = Effect.fnUntraced(function* (campaignId: string) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<{ id: RecipientId; isErased: boolean }>`
      select id, erased_at is not null as "isErased" from recipients where campaign_id = ${campaignId} order by id`
  })

  const HOUR = 3600
  const hourNow = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ hour: number }>`
      select extract(epoch from date_trunc('hour', clock_timestamp(), 'UTC'))::int as hour`
    return rows[0]!.hour
  })

  /** Moves what was counted an hour back, by way of hours that are free. */
  const wait = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const table of ["campaign_counts", "campaign_count_changes"]) {
      yield* sql`update ${sql(table)} set hour = hour - interval '1000 hours' where isfinite(hour)`
      yield* sql`update ${sql(table)} set hour = hour + interval '999 hours' where isfinite(hour)`
    }
  })

  const keptHours = Effect.fnUntraced(function* (campaignId: string) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<Count>`
      select each.name, extract(epoch from hour)::int as hour, sum(count)::int as count
      from campaigns cross join lateral counts_of_campaign(organization_id, campaigns.id)
      cross join lateral (values ('complained', complained), ('unsubscribed', unsubscribed)) each (name, count)
      where campaigns.id = ${campaignId} and count <> 0 group by 1, 2 having sum(count) <> 0 order by 1, 2`
  })

  const step = fc.record({
    do: fc.constantFrom(
      "complain",
      "opt out",
      "ask",
      "ask of the program",
      "take back",
      "apply",
      "erase",
      "fold",
      "wait",
    ),
    who: fc.nat({ max: 2 }),
  })
  // A few histories to a test, so that each ends in time on a busy machine.
  it.each([1, 2, 3])(
    "tell how many have complained and how many stay unsubscribed, whatever they repeat and take back (%i)",
    () =>
      fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 5, maxLength: 25 }), (isTest, steps) =>
          run(
            Effect.gen(function* () {
              const { campaign, organization } = yield* seed(isTest)
              const unsubscriptions = yield* UnsubscriptionRepository
              const [complained, unsubscribed] = [new Set<RecipientId>(), new Set<RecipientId>()]
              let hours: ReadonlyArray<Count> = []
              for (const { do: name, who } of steps) {
                const { id, isErased } = (yield* recipientsOf(campaign.id))[who]!
                const recipient = { organizationId: organization.id, recipientId: id }
                if (name === "complain") yield* reportComplaint(id, "abuse")
                if (name === "opt out") yield* reportComplaint(id, "opt-out")
                if (name === "ask") yield* unsubscriptions.ask(recipient)
                if (name === "ask of the program") yield* unsubscriptions.ask(recipient, "program")
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
                else if (name.startsWith("ask") || name === "opt out") unsubscribed.add(id)
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
        ),
        { numRuns: propertyRuns(5) },
      ),
  )

  test("count once what comes several times at once", function* () {
    const { campaign, organization } = yield* seed(false)
    const { id } = (yield* recipientsOf(campaign.id))[0]!
    const recipient = { organizationId: organization.id, recipientId: id }
    const { ask, revoke } = yield* UnsubscriptionRepository
    const atOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.all(
        Array.from({ length: 8 }, () => effect),
        { concurrency: "unbounded" },
      )
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
