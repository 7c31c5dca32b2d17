import { describe, expect } from "@effect/vitest"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { type MessageClaim, MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

beforeEach(() => run(resetSending))

/** Seeds a campaign that is sending to a number of recipients of each domain, in this order. */
const seedSending = Effect.fnUntraced(function* (domains: Readonly<Record<string, number>>) {
  const sql = yield* SqlClient.SqlClient
  const all = Object.entries(domains).flatMap(([domain, recipients]) => Array<string>(recipients).fill(domain))
  const { campaign } = yield* seedCampaign({ recipients: all.length })
  yield* sendCampaign(campaign.id)
  yield* sql`
    update recipients set email = 'x' || place || '@' || (${all}::text[])[place]
    from (select recipient_id, row_number() over (order by recipient_id)::int as place from messages where campaign_id = ${campaign.id}) message
    where id = recipient_id`
  return campaign
})
const claim = (options: Partial<MessageClaim> = {}) => claimMessages(100, options)
const domains = (leases: ReadonlyArray<MessageLease>) => leases.map(({ email }) => email.split("@")[1])
/** Lets time pass for the rates. */
const pass = (seconds: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      update send_rates set next_at = next_at - make_interval(secs => ${seconds}::int)`,
  )
const waits = (campaignId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ wait: number }>`
      select extract(epoch from due_at - clock_timestamp())::float8 as wait from messages
      where campaign_id = ${campaignId} and lease_token is null order by due_at`,
  ).pipe(Effect.map((rows) => rows.map(({ wait }) => wait)))

describe("the rate over all campaigns", () => {
  test("holds over claims at the same time, and saves up no more than a second", function* () {
    yield* seedSending({ "a.test": 200 })
    const all = () =>
      Effect.all(
        Array.from({ length: 8 }, () => claim({ limit: 20, perMinute: 600 })),
        { concurrency: "unbounded" },
      ).pipe(Effect.map((claims) => claims.flat().length))
    const first = yield* all()
    // One each 0.1 s, one second's worth of them, and what falls due while the eight run.
    expect(first).toBeGreaterThanOrEqual(11)
    expect(first).toBeLessThan(20)
    yield* pass(100)
    const second = yield* all()
    expect(second).toBeGreaterThanOrEqual(11)
    expect(second).toBeLessThan(20)
  })
})

describe("a campaign's rate", () => {
  test("bounds that campaign alone", function* () {
    const sql = yield* SqlClient.SqlClient
    const slow = yield* seedSending({ "a.test": 10 })
    const other = yield* seedSending({ "a.test": 10 })
    yield* sql`update campaigns set per_minute = 60 where id = ${slow.id}`
    const leases = [...(yield* claim()), ...(yield* claim())]
    expect(leases.filter(({ campaignId }) => campaignId === slow.id)).toHaveLength(2)
    expect(leases.filter(({ campaignId }) => campaignId === other.id)).toHaveLength(10)
    yield* pass(1)
    expect(yield* claim()).toHaveLength(1)
  })
})

describe("the rate to a recipient domain", () => {
  test("puts off what has to wait, each to a turn of its own, and lets others pass", function* () {
    const campaign = yield* seedSending({ "a.test": 30, "B.test": 1, "b.test": 2 })
    const options = { limit: 2, perDomainMinute: 1 }
    const leases = [...(yield* claim(options)), ...(yield* claim(options)), ...(yield* claim(options))]
    expect(domains(leases).map((domain) => domain?.toLowerCase())).toEqual(["a.test", "b.test"])

    // One each minute and domain: 29 of a.test, and two of b.test beside the first two.
    const minutes = (yield* waits(campaign.id)).map((wait) => Math.round(wait / 60))
    expect(minutes).toEqual([1, 2, ...Array.from({ length: 29 }, (_, i) => i + 1)].sort((one, other) => one - other))
  })
})

describe("MessageQueuePg.forgetRates", () => {
  test("forgets what bounds nothing any more, and nothing else", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* seedSending({ "a.test": 2 })
    yield* claim({ perMinute: 60 })
    yield* sql`insert into send_rates (scope, next_at) values ('domain old.test', clock_timestamp() - interval '2 hours')`
    yield* (yield* MessageQueue).forgetRates
    expect(yield* sql`select scope from send_rates`).toEqual([{ scope: "all" }])
  })
})

describe("a worker that stands still in its decision", () => {
  test("loses what its claim has locked after five seconds, for other claims wait for the same rates", function* () {
    yield* seedSending({ "a.test": 1 })
    const sql = yield* SqlClient.SqlClient
    const queue = yield* MessageQueue
    const locked = Effect.gen(function* () {
      const due = yield* queue.lockDue({ limit: 1, leaseSeconds: 60, perMinute: 60, perDomainMinute: null }, 1)
      return [
        due?.candidates.length,
        yield* sql`select current_setting('idle_in_transaction_session_timeout') as timeout`,
      ]
    })
    expect(yield* inTransaction(locked)).toEqual([1, [{ timeout: "5s" }]])
  })
})

describe("a refusal that is about us", () => {
  test("keeps the campaign from that domain for as long, and from no other", function* () {
    const sql = yield* SqlClient.SqlClient
    const { settle } = yield* Settlements
    const campaign = yield* seedSending({ "a.test": 3, "b.test": 2 })
    const [refused] = yield* claim({ limit: 1 })
    const settlement = { state: "retry", attempts: 0, delaySeconds: 3600, refusedWith: "550 5.7.1" } as const
    expect(yield* settle(refused!, settlement)).toBe(true)
    expect(domains(yield* claim())).toEqual(["b.test", "b.test"])
    const due = yield* waits(campaign.id)
    expect(due.map((wait) => Math.round(wait / 60))).toEqual([60, 60, 60])
    expect(yield* sql`select domain, status from domain_pauses where campaign_id = ${campaign.id}`).toEqual([
      { domain: "a.test", status: "550 5.7.1" },
    ])

    const other = yield* seedSending({ "a.test": 1 })
    expect((yield* claim()).map(({ campaignId }) => campaignId)).toEqual([other.id])

    yield* sql`update domain_pauses set until = clock_timestamp()`
    yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaign.id}`
    expect(domains(yield* claim())).toEqual(["a.test", "a.test", "a.test"])
  })
})
