import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import { addDays, dateAt } from "@outreach/domain/digest/DateRange"
import { type CampaignId, createIdentifier, type OrganizationId, type ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { columnOf } from "@outreach/postgres/rowsOf"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { FOOTER, SENDER, seedCampaign } from "@outreach/testing/seedCampaign"
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { beforeEach, expect, it } from "vitest"
import { backoffice } from "../../src/backoffice.ts"
import {
  type Grouping,
  NUMBER_NAMES,
  Numbers,
  type NumbersFilter,
  NumbersReader,
  type Period,
} from "../../src/numbers/NumbersReader.ts"

const { run, test } = testsOnDatabase({ layer: backoffice })

const reset = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["campaign_counts", "campaign_count_changes", "digest_funnel"]) {
    yield* sql`delete from ${sql(table)}`
  }
})

beforeEach(() => run(reset))

const HOUR_MS = 3_600_000
const THIS_HOUR = Date.UTC(2026, 10, 26, 10)
const TODAY = dateAt(THIS_HOUR)
const GROUPINGS = ["organization", "program", "campaign"] as const satisfies ReadonlyArray<Grouping>
const FUNNEL = ["accounts", "learners", "completers"] as const

const sumOf = (all: ReadonlyArray<Numbers>): Numbers =>
  Object.fromEntries(NUMBER_NAMES.map((name) => [name, all.reduce((sum, each) => sum + each[name], 0)])) as Numbers

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

interface Stored {
  readonly organizationId: OrganizationId
  readonly programId: ProgramId
  readonly campaignId: CampaignId
  readonly hour: Timestamp
  readonly isFunnel: boolean
  readonly numbers: Numbers
}

/** Events in an hour, of a campaign or of its program's funnel. */
const happening = fc.record({
  campaign: fc.nat({ max: 3 }),
  /** Relative to the current hour. */
  hoursAgo: fc.integer({ min: -2, max: 400 }),
  into: fc.constantFrom("campaign_counts", "campaign_count_changes", "digest_funnel"),
  counts: fc.array(fc.integer({ min: -3, max: 9 }), { minLength: NUMBER_NAMES.length, maxLength: NUMBER_NAMES.length }),
})

it("sums the counts of a period, for each grouping and filter", () =>
  fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(happening, {
        maxLength: 30,
        selector: ({ campaign, hoursAgo, into }) => `${campaign} ${hoursAgo} ${into}`,
      }),
      (happenings) =>
        run(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* reset
          const campaigns = yield* seedAll
          const reader = yield* NumbersReader
          const stored: Array<Stored> = []
          for (const { campaign: index, hoursAgo, into, counts } of happenings) {
            const { organizationId, programId, id } = campaigns[index]!
            const hour = fromUnixMillis(THIS_HOUR - hoursAgo * HOUR_MS)
            const given = NUMBER_NAMES.map((name, i) => [name, counts[i]!] as const)
            const isFunnel = into === "digest_funnel"
            const [accounts, learners, completers] = FUNNEL.map((name) => counts[NUMBER_NAMES.indexOf(name)]!)
            if (isFunnel) {
              // The second campaign is in the first program.
              yield* sql`
                insert into digest_funnel as kept
                values (${organizationId}, ${programId}, ${hour.slice(0, 10)}, ${accounts!}, ${learners!}, ${completers!}, 0, 0, 0)
                on conflict (organization_id, program_id, date) do update set account_created = kept.account_created + excluded.account_created,
                  learner_qualified = kept.learner_qualified + excluded.learner_qualified,
                  completer_qualified = kept.completer_qualified + excluded.completer_qualified`
            } else {
              const row = Object.fromEntries(given.map(([name, count]) => [columnOf(name), count]))
              yield* sql`insert into ${sql(into)} ${sql.insert({ organization_id: organizationId, campaign_id: id, hour, ...row })}`
            }
            const numbers = Object.fromEntries(
              given.map(([name, count]) => [name, isFunnel && !FUNNEL.some((each) => each === name) ? 0 : count]),
            ) as Numbers
            stored.push({ organizationId, programId, campaignId: id, hour, isFunnel, numbers })
          }

          const matching = (filter: NumbersFilter, { from, to }: Period, isOfCampaigns: boolean) =>
            stored.flatMap((each) => {
              const isMeant =
                each.hour.slice(0, 10) >= from &&
                each.hour.slice(0, 10) <= to &&
                (filter.organizationId === undefined || filter.organizationId === each.organizationId) &&
                (filter.programId === undefined || filter.programId === each.programId)
              if (!isMeant || (each.isFunnel && isOfCampaigns)) return []
              const numbers =
                each.isFunnel || isOfCampaigns
                  ? each.numbers
                  : { ...each.numbers, accounts: 0, learners: 0, completers: 0 }
              return [{ ...each, numbers }]
            })
          const [first] = campaigns
          const filters: ReadonlyArray<NumbersFilter> = [
            {},
            { organizationId: first!.organizationId },
            { organizationId: first!.organizationId, programId: first!.programId },
            { programId: campaigns[2]!.programId },
          ]
          const day = { from: TODAY, to: TODAY }
          const week = { from: addDays(TODAY, -7), to: addDays(TODAY, -1) }
          for (const filter of filters) {
            for (const period of [day, week]) {
              expect(yield* reader.total(filter, period)).toEqual(
                sumOf(matching(filter, period, false).map(({ numbers }) => numbers)),
              )
            }
            for (const grouping of GROUPINGS) {
              const groups = yield* reader.groups(filter, grouping, week, 100)
              const found = new Map(
                groups.map((group) => [group[`${grouping}Id`], Schema.decodeUnknownSync(Numbers)(group)]),
              )
              const expected = Arr.groupBy(
                matching(filter, week, grouping === "campaign"),
                (each) => each[`${grouping}Id`],
              )
              const sums = Object.entries(expected).map(
                ([id, each]) => [id, sumOf(each.map(({ numbers }) => numbers))] as const,
              )
              expect(found).toEqual(
                new Map(sums.filter(([, numbers]) => NUMBER_NAMES.some((name) => numbers[name] !== 0))),
              )
            }
          }
        }),
    ),
    { numRuns: propertyRuns(4) },
  ))

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
