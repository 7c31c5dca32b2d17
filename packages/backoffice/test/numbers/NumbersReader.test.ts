import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CalendarDate } from "@outreach/domain/digest/Digest"
import { createIdentifier } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { columnOf } from "@outreach/postgres/rowsOf"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { FOOTER, SENDER, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, expect } from "vitest"
import { type Grouping, NUMBER_NAMES, type NumbersFilter, NumbersReader } from "../../src/numbers/NumbersReader.ts"

const { run, test } = testsOnDatabase()

const reset = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["campaign_counts", "campaign_count_changes", "digest_funnel"]) {
    yield* sql`delete from ${sql(table)}`
  }
})

beforeEach(() => run(reset))

const TODAY = "2026-11-26" as CalendarDate
const YESTERDAY = "2026-11-25" as CalendarDate
const FUNNEL: ReadonlyArray<string> = ["accounts", "learners", "completers"]

/** Seeds two organizations; the first has two programs, and its first program two campaigns. */
const seedAll = Effect.gen(function* () {
  const { program, campaign } = yield* seedCampaign({ recipients: 0 })
  const other = yield* seedCampaign({ recipients: 0 })
  const second = yield* (yield* ProgramRepository).create({
    organizationId: program.organizationId,
    id: yield* createIdentifier("program"),
    slug: "asthma",
    name: "Asthma",
    ...SENDER,
    learnerTarget: null,
    completerTarget: null,
  })
  const { windowStart, windowEnd } = campaign
  const create = (programId: typeof program.id, name: string) =>
    createCampaign({ programId, name, kind: "traffic", subject: "Hello", html: FOOTER, windowStart, windowEnd })
  return [campaign, yield* create(program.id, "Summer"), yield* create(second.id, "Autumn"), other.campaign]
})

/** The numbers of rows that count `ofCampaigns` in each column, and of a funnel with `ofFunnel` clinicians in each stage. */
const numbersOf = (ofCampaigns: number, ofFunnel: number) =>
  Object.fromEntries(NUMBER_NAMES.map((name) => [name, FUNNEL.includes(name) ? ofFunnel : ofCampaigns]))

test("sums the counts of a period, for each grouping and filter", function* () {
  const sql = yield* SqlClient.SqlClient
  const [spring, summer, autumn, other] = yield* seedAll
  // Each row counts another power of two, so that a sum names its rows.
  for (const [table, campaign, hour, number] of [
    ["campaign_counts", spring!, `${TODAY} 00:00Z`, 1],
    ["campaign_count_changes", spring!, `${YESTERDAY} 23:00Z`, 2],
    ["campaign_counts", summer!, `${YESTERDAY} 00:00Z`, 4],
    ["campaign_counts", autumn!, `${YESTERDAY} 10:00Z`, 8],
    ["campaign_count_changes", other!, `${YESTERDAY} 10:00Z`, 16],
    ["campaign_counts", spring!, "2026-11-18 23:00Z", 32],
  ] as const) {
    const row = Object.fromEntries(NUMBER_NAMES.map((name) => [columnOf(name), number]))
    const key = { organization_id: campaign.organizationId, campaign_id: campaign.id }
    yield* sql`insert into ${sql(table)} ${sql.insert({ ...key, hour, ...row })}`
  }
  for (const [{ organizationId, programId }, date, number] of [
    [spring!, TODAY, 100],
    [spring!, YESTERDAY, 200],
    [autumn!, YESTERDAY, 400],
    [other!, YESTERDAY, 800],
  ] as const) {
    yield* sql`
      insert into digest_funnel values (${organizationId}, ${programId}, ${date}, ${number}, ${number}, ${number}, 0, 0, 0)`
  }

  const reader = yield* NumbersReader
  const { organizationId } = spring!
  const today = { from: TODAY, to: TODAY }
  const yesterday = { from: YESTERDAY, to: YESTERDAY }
  for (const [filter, period, ofCampaigns, ofFunnel] of [
    [{}, today, 1, 100],
    [{}, yesterday, 30, 1400],
    [{}, { from: YESTERDAY, to: TODAY }, 31, 1500],
    [{ organizationId }, yesterday, 14, 600],
    [{ organizationId, programId: spring!.programId }, yesterday, 6, 200],
    [{ programId: autumn!.programId }, yesterday, 8, 400],
  ] as const) {
    expect(yield* reader.total(filter, period)).toEqual(numbersOf(ofCampaigns, ofFunnel))
  }

  const groups = (grouping: Grouping, filter: NumbersFilter = {}) =>
    Effect.map(reader.groups(filter, grouping, yesterday, 100), (rows) =>
      rows.map((row) => [row[`${grouping}Id`], Struct.pick(row, NUMBER_NAMES)]),
    )
  expect(yield* groups("organization")).toEqual([
    [other!.organizationId, numbersOf(16, 800)],
    [organizationId, numbersOf(14, 600)],
  ])
  expect(yield* groups("program", { organizationId })).toEqual([
    [autumn!.programId, numbersOf(8, 400)],
    [spring!.programId, numbersOf(6, 200)],
  ])
  // A campaign has its own counts of the stages.
  expect(yield* groups("campaign")).toEqual([
    [other!.id, numbersOf(16, 16)],
    [autumn!.id, numbersOf(8, 8)],
    [summer!.id, numbersOf(4, 4)],
    [spring!.id, numbersOf(2, 2)],
  ])
})

test("lists the domains with the most bounces over all campaigns of a filter, with their servers' last replies", function* () {
  const sql = yield* SqlClient.SqlClient
  const [spring, summer, , other] = yield* seedAll
  const insert = (campaign: NonNullable<typeof spring>, domain: string, row: object) =>
    sql`insert into campaign_domains ${sql.insert({ organization_id: campaign.organizationId, campaign_id: campaign.id, domain, ...row })}`
  const at = (hour: number) => `2026-11-01 0${hour}:00Z`
  yield* insert(spring!, "clinic.test", {
    sent: 90,
    mailbox_not_found: 4,
    other: 1,
    last_reply: "550 5.1.1 First",
    last_reply_at: at(1),
  })
  yield* insert(summer!, "clinic.test", {
    sent: 10,
    mailbox_disabled: 2,
    last_reply: "550 5.2.1 Second",
    last_reply_at: at(2),
  })
  yield* insert(other!, "clinic.test", { sent: 5, domain_not_found: 9 })
  yield* insert(spring!, "fine.test", { sent: 50, deferred: 3, last_reply: "451 4.7.1 Later", last_reply_at: at(3) })
  yield* insert(other!, "small.test", { address_invalid: 1 })

  const reader = yield* NumbersReader
  const all = yield* reader.bouncedDomains({}, 10)
  expect(
    all.map(({ domain, sent, bounced, campaigns, campaign }) => [domain, sent, bounced, campaigns, campaign]),
  ).toEqual([
    ["clinic.test", 105, 16, 3, "Spring"],
    ["small.test", 0, 1, 1, "Spring"],
  ])
  expect(all[0]).toMatchObject({
    mailboxNotFound: 4,
    mailboxDisabled: 2,
    domainNotFound: 9,
    addressInvalid: 0,
    other: 1,
    campaignId: other!.id,
    replies: ["550 5.2.1 Second", "550 5.1.1 First"],
    lastReplyAt: "2026-11-01T02:00:00.000000Z",
  })
  const ofOne = yield* reader.bouncedDomains({ programId: spring!.programId }, 10)
  expect(ofOne).toMatchObject([{ domain: "clinic.test", sent: 100, bounced: 7, campaignId: spring!.id }])
  expect(yield* reader.bouncedDomains({}, 1)).toHaveLength(1)
})
