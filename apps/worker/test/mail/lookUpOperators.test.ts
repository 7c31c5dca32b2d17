import { expect } from "@effect/vitest"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import { MailOperatorRepository } from "@outreach/domain/mail/MailOperatorRepository"
import { databaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { dnsServer } from "@outreach/testing/dnsServer"
import { effectTest } from "@outreach/testing/effectTest"
import { eventually } from "@outreach/testing/eventually"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sendCampaign } from "@outreach/testing/sendCampaign"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"
import { lookUpOperators } from "../../src/mail/lookUpOperators.ts"

const run = runOnDatabase()
const test = effectTest(run)

/** Seeds a campaign that is sending to three recipients of each domain. */
const seedSending = Effect.fnUntraced(function* (domains: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const { campaign } = yield* seedCampaign({ recipients: 3 * domains.length })
  yield* sql`
    update recipients set email = 'x' || place || '@' || (${domains}::text[])[1 + place % cardinality(${domains}::text[])]
    from (select id as given, row_number() over (order by id)::int as place from recipients where campaign_id = ${campaign.id}) each
    where id = given`
  yield* sendCampaign(campaign.id)
  return campaign
})
const operators = SqlClient.SqlClient.use(
  (sql) => sql<{ domain: string; operator: string | null; isKnown: boolean }>`
    select domain, operator, looked_up_at is not null as "isKnown" from mail_operators order by domain`,
)

beforeEach(() => run(SqlClient.SqlClient.use((sql) => sql`delete from mail_operators`)))

test("counts the domains of one operator together, once the worker has looked them up", function* () {
  const mx = (name: string, exchange: string) => ({ name, type: "MX" as const, data: { preference: 10, exchange } })
  const server = yield* Effect.promise(() =>
    dnsServer([
      mx("one.test", "one-test.mail.operator.com"),
      mx("two.test", "two-test.mail.operator.com"),
      mx("three.test", "mx.three.test"),
    ]),
  )
  yield* seedSending(["one.test", "Two.test", "three.test", "unknown.test"])
  const work = yield* Effect.forkChild(
    lookUpOperators(partnerNames([server])).pipe(Effect.provide(databaseMonitor("worker"))),
  )
  yield* Effect.promise(() =>
    eventually(
      () => run(operators),
      (rows) => rows.length === 4 && rows.every(({ isKnown }) => isKnown),
    ),
  )
  yield* Fiber.interrupt(work)
  expect(yield* operators).toMatchObject([
    { domain: "one.test", operator: "operator.com" },
    { domain: "three.test", operator: "three.test" },
    { domain: "two.test", operator: "operator.com" },
    { domain: "unknown.test", operator: null },
  ])
  // Nothing is looked up again before a day is over.
  expect(yield* (yield* MailOperatorRepository).take(10)).toEqual([])

  const rates = { perMinute: null, perDomainMinute: null, perOperatorMinute: 1 }
  const claims = yield* Effect.replicateEffect(claimMessages({ limit: 9, leaseSeconds: 60, ...rates }), 4, {
    concurrency: "unbounded",
  })
  const domains = claims.flat().map(({ email }) => email.split("@")[1]!.toLowerCase())
  expect(domains).toHaveLength(3)
  expect(domains.filter((domain) => domain === "one.test" || domain === "two.test")).toHaveLength(1)
})

test("leaves a domain as it is while DNS fails", function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    insert into mail_operators (domain, operator, looked_up_at, look_up_at)
    values ('one.test', 'operator.com', '2026-01-01', '-infinity')`
  // Nobody listens there.
  const names = partnerNames(["127.0.0.1:1"])
  const work = yield* Effect.forkChild(lookUpOperators(names).pipe(Effect.provide(databaseMonitor("worker"))))
  yield* Effect.promise(() =>
    eventually(
      () => run(sql`select from mail_operators where domain = 'one.test' and look_up_at > clock_timestamp()`),
      (rows) => rows.length === 1,
    ),
  )
  yield* Fiber.interrupt(work)
  expect((yield* operators)[0]).toMatchObject({ domain: "one.test", operator: "operator.com" })
})
