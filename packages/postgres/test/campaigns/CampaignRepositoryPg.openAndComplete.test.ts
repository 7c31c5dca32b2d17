import { describe, expect } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns } from "@outreach/testing/sendCampaign"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

// Publishing and advancing take whatever campaigns there are, so each test begins without any under way.
beforeEach(() => run(cancelCampaigns))

const status = Effect.fnUntraced(function* (id: CampaignId) {
  return (yield* (yield* CampaignRepository).find(id)).status
})
/** Lets a campaign's window end, as the passing of its time would. */
const endWindow = Effect.fnUntraced(function* (id: CampaignId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    update campaigns set window_start = clock_timestamp() - interval '1 day',
      window_end = clock_timestamp() - interval '1 second'
    where id = ${id}`
})

describe("CampaignRepositoryPg.openAndComplete", () => {
  const openAndComplete = Effect.flatMap(CampaignRepository, (campaigns) => campaigns.openAndComplete)
  const queued = Effect.fnUntraced(function* (id: CampaignId) {
    return (yield* (yield* CampaignRepository).progress(id)).queued
  })
  const publishedCampaign = Effect.fnUntraced(function* (options: { recipients: number; opensIn?: number }) {
    const { campaign } = yield* seedCampaign(options)
    yield* scheduleCampaign(campaign.id, { force: ["recipients"] })
    while (yield* publishChunk()) {}
    return campaign.id
  })

  test("opens a published campaign when its window has begun, and not before", function* () {
    const now = yield* publishedCampaign({ recipients: 1 })
    const later = yield* publishedCampaign({ recipients: 1, opensIn: 600 })
    yield* openAndComplete
    expect([yield* status(now), yield* status(later)]).toEqual(["sending", "published"])
  })

  test("completes a campaign with nothing left to send", function* () {
    const id = yield* publishedCampaign({ recipients: 1 })
    yield* SqlClient.SqlClient.use((sql) => sql`delete from messages where campaign_id = ${id}`)
    yield* openAndComplete
    expect(yield* status(id)).toBe("completed")
  })

  test("leaves an empty campaign open until its window ends, because it may still get recipients", function* () {
    const id = yield* publishedCampaign({ recipients: 0 })
    yield* openAndComplete
    expect(yield* status(id)).toBe("sending")
    yield* endWindow(id)
    yield* openAndComplete
    expect(yield* status(id)).toBe("completed")
  })

  test("completes a campaign whose window has ended, and drops what it did not send", function* () {
    const id = yield* publishedCampaign({ recipients: 3 })
    yield* openAndComplete
    yield* endWindow(id)
    yield* openAndComplete
    expect([yield* status(id), yield* queued(id)]).toEqual(["completed", 0])
  })

  test("waits for the messages that a worker still holds", function* () {
    const id = yield* publishedCampaign({ recipients: 3 })
    yield* openAndComplete
    expect(yield* claimMessages({ limit: 1, leaseSeconds: 60, perMinute: null, perDomainMinute: null })).toHaveLength(1)
    yield* endWindow(id)
    yield* openAndComplete
    expect([yield* status(id), yield* queued(id)]).toEqual(["sending", 3])

    yield* commandCampaign(id, "cancel")
    yield* openAndComplete
    expect(yield* queued(id)).toBe(1)
  })

  test("keeps a paused campaign's messages", function* () {
    const id = yield* publishedCampaign({ recipients: 3 })
    yield* commandCampaign(id, "pause")
    yield* openAndComplete
    expect([yield* status(id), yield* queued(id)]).toEqual(["paused", 3])
  })

  test("gives lost turns back in the order of their organizations, so that workers never deadlock", function* () {
    const sql = yield* SqlClient.SqlClient
    const [first, ...others] = Array.from({ length: 6 }, (_, i) => `org_${i}`)
    yield* sql`
      insert into campaign_turns (organization_id, campaign_id, next_at)
      select id, 'cmp_0', clock_timestamp() from unnest(${[first, ...others]}::text[]) as id`
    const give = (id: string | undefined) =>
      sql`insert into organization_turns (organization_id, next_at) values (${id}, '-infinity')`
    const begun = yield* Deferred.make<void>()
    const worker = Effect.gen(function* () {
      yield* give(first)
      yield* Deferred.succeed(begun, undefined)
      yield* Effect.repeat(sql`select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))`, {
        until: ({ length }) => length > 0,
      })
      yield* Effect.forEach(others, give)
    })
    yield* Effect.all([inTransaction(worker), Effect.andThen(Deferred.await(begun), openAndComplete)], {
      concurrency: "unbounded",
    })
    for (const table of ["campaign_turns", "organization_turns"]) {
      expect(yield* sql`delete from ${sql(table)} where organization_id like 'org\\__' returning true`).toHaveLength(6)
    }
  })
})
