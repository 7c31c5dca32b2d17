import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { copyCampaign, publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeEach, describe, expect } from "vitest"
import { ProgramReader } from "../../src/programs/ProgramReader.ts"
import { TodayReader } from "../../src/today/TodayReader.ts"

const { run, test } = testsOnDatabase()
const read = (organizationId: OrganizationId | null) =>
  Effect.flatMap(TodayReader, (reader) => reader.read(organizationId))

const NOTHING = { sending: { campaigns: 0, sentInLastMinute: 0, remaining: null }, quota: null }
const NO_STEPS = { organization: null, key: false, endpoint: false, program: false, sender: false }

const forgetAll = sql`truncate organizations, inbox_keys, failure_groups cascade`
beforeEach(() => run(forgetAll))

describe("TodayReader.read", () => {
  test("returns zeros for an empty database and for an organization without data", function* () {
    expect(yield* read(null)).toEqual({ ...NOTHING, steps: NO_STEPS })
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    expect(yield* read(organization.id)).toEqual({ ...NOTHING, steps: null })
    yield* sql`delete from campaigns where id = ${campaign.id}`
    const steps = { ...NO_STEPS, organization: organization.id, endpoint: true, program: true }
    expect(yield* read(null)).toEqual({ ...NOTHING, steps })
    yield* sql`
      insert into delivery_workers (token, alive_until, stopping)
      select gen_random_uuid(), now() + make_interval(mins => minutes), stopping
      from (values (1, false), (1, true), (-1, false)) worker (minutes, stopping)`
    expect(yield* readFacts(["workers"])).toEqual({ workers: 1 })
    yield* sql`delete from delivery_workers`
  })

  test("counts the e-mails of the last minute, and the campaigns that are sending in their window", function* () {
    const first = yield* seedCampaign({ recipients: 3 })
    const second = yield* seedCampaign({ recipients: 0 })
    yield* seedCampaign({ recipients: 7 })
    yield* publishSent(first.campaign, 3)
    yield* publishSent(second.campaign, 2)
    yield* sql`
      update events set emitted_at = emitted_at - interval '61 seconds'
      where id = (select min(id) from events where organization_id = ${first.organization.id})`
    yield* sql`update campaigns set status = 'sending' where id in (${first.campaign.id}, ${second.campaign.id})`
    expect((yield* read(null)).sending).toEqual({ campaigns: 2, sentInLastMinute: 4, remaining: 3 })
    expect((yield* read(first.organization.id)).sending).toEqual({ campaigns: 1, sentInLastMinute: 2, remaining: 3 })
    yield* sql`update campaigns set window_start = now() - interval '2 h', window_end = now() - interval '1 h' where id = ${first.campaign.id}`
    expect((yield* read(null)).sending.campaigns).toBe(1)
  })

  test("returns the nearest target that isn't reached, or a reached one if there are no more", function* () {
    const near = yield* seedCampaign({ recipients: 0 })
    const far = yield* seedCampaign({ recipients: 0 })
    yield* sql`update programs set learner_target = 100, completer_target = 50 where id = ${near.program.id}`
    yield* sql`update programs set learner_target = 1000 where id = ${far.program.id}`
    yield* sql`
      insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
        account_created_total, learner_qualified_total, completer_qualified_total)
      select ${near.organization.id}, ${near.program.id}, current_date - n, 0, 0, 0, 0, 100 - n, 40 - n from generate_series(0, 5) n`
    expect((yield* read(null)).quota).toEqual({
      organizationId: near.organization.id,
      programId: near.program.id,
      program: "Heart failure",
      ...{ stage: "completer", count: 40, target: 50 },
    })
    expect((yield* read(far.organization.id)).quota).toMatchObject({ stage: "learner", count: 0, target: 1000 })
    yield* sql`update programs set completer_target = null where id = ${near.program.id}`
    expect((yield* read(null)).quota).toMatchObject({ programId: far.program.id })
    expect((yield* read(near.organization.id)).quota).toMatchObject({ stage: "learner", count: 100, target: 100 })
  })
})

describe("campaigns with many complaints", () => {
  /** Seeds a campaign with accepted messages and complaints. */
  const complained = Effect.fnUntraced(function* (sent: number, complaints: number) {
    const { campaign, organization, program } = yield* seedCampaign({ recipients: complaints })
    yield* sql`
      insert into campaign_count_changes (organization_id, campaign_id, sent)
      values (${organization.id}, ${campaign.id}, ${sent})`
    const recipients = yield* sql<{ id: RecipientId }>`select id from recipients where campaign_id = ${campaign.id}`
    for (const { id } of recipients) yield* reportComplaint(id, "abuse")
    return { campaignId: campaign.id, organizationId: organization.id, programId: program.id }
  })

  test("are sorted by their share, and counted by the threshold that they have reached, for seven days", function* () {
    const raised = yield* complained(3000, 3)
    const high = yield* complained(1000, 3)
    yield* complained(3001, 3)
    yield* complained(2, 2)
    const { readComplained } = yield* TodayReader
    const counts = { campaign: "Spring", status: "draft", complained: 3 }
    const [ofHigh, ofRaised] = [
      { ...counts, campaignId: high.campaignId, sent: 1000 },
      { ...counts, campaignId: raised.campaignId, sent: 3000 },
    ]
    expect(yield* readComplained(null)).toEqual([ofHigh, ofRaised])
    expect(yield* readComplained(raised.organizationId)).toEqual([ofRaised])
    const count = Effect.map(readFacts(["campaignsComplained"]), ({ campaignsComplained }) => campaignsComplained)
    expect(yield* count).toEqual({ raised: 1, high: 1 })
    yield* sql`
      update complaints set reported_at = reported_at - interval '8 days' where campaign_id = ${high.campaignId}`
    expect(yield* count).toEqual({ raised: 1, high: 0 })
  })

  test("are summed for their program", function* () {
    const { organizationId, programId, campaignId } = yield* complained(10, 2)
    yield* sql`
      insert into campaign_count_changes (organization_id, campaign_id, sent, complained, unsubscribed, refused_later)
      values (${organizationId}, ${yield* copyCampaign(campaignId)}, 5, 1, 2, 3)`
    yield* complained(7, 1)
    const { list } = yield* ProgramReader
    expect(yield* list({ organizationId })).toMatchObject([
      { id: programId, sent: 15, complained: 3, unsubscribed: 2, refusedLater: 3 },
    ])
    expect(yield* list({})).toHaveLength(2)
  })
})
