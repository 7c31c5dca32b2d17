import { describeReplay } from "@outreach/backoffice/deliveries/followReplay"
import { type Replay, ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { publishSent } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { seedWaiting } from "@outreach/testing/seedWaiting"
import { eventually } from "@outreach/testing/until"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

beforeEach(() =>
  meanwhile(
    SqlClient.SqlClient.use((sql) => sql`truncate replay_jobs, deliveries, dead_letters, failure_groups cascade`),
  ),
)

const seed = (...args: Parameters<typeof seedDeadLetters>) =>
  meanwhile(Effect.map(seedDeadLetters(...args), ({ endpoint }) => endpoint.id))

/** Replays chunks, as a worker does, until a job has ended. */
const runReplayJob = () =>
  meanwhile(
    ReplayJobQueue.use(({ replayNextChunk }) =>
      Effect.repeat(replayNextChunk, { until: (done) => "replay" in done && done.replay.state !== "running" }),
    ),
  )
const RUNS_AT_ONCE = ["--rate", "10000"]

describe("dead-letters replay", () => {
  it("counts the dead letters by endpoint and reason on a dry run, and replays none", async () => {
    const [one, other] = [await seed(3), await seed(12)]
    const { count, action } = await runJson("dead-letters", "replay", "--all", "--rate", "5", "--dry-run")
    const found = `…${other.slice(-4)}\\), exhausted: 12\\. .*…${one.slice(-4)}\\), exhausted: 3\\. .* at 5 per second`
    expect({ count, action }).toEqual({ count: 15, action: expect.stringMatching(found) })
    const { stdout } = await run(["dead-letters", "replay", "--endpoint", one, "--dry-run"])
    expect(stdout).toMatch(
      /^Replay dead letters: 3 dead letters, each from attempt 1 \(.*\)\. .*, exhausted: 3\. Now, /,
    )
    expect((await runJson("replays", "list")).data).toEqual([])
  })

  it("is followed until a worker has finished it", async () => {
    await seed(5)
    const following = run(["dead-letters", "replay", "--all", ...RUNS_AT_ONCE])
    await eventually(
      async () => (await runJson("replays", "list")).data,
      ({ length }) => length === 1,
    )
    await runReplayJob()
    expect(await following).toEqual({
      code: 0,
      stdout: "Replayed 5 dead letters.\n",
      stderr: expect.stringMatching(
        /^The replay rpl_[0-9a-f]{32} sends 5 dead letters at 10,000 per second, in .*\.\n$/,
      ),
    })
  })

  it("is left to the workers with --detach, and then shown and cancelled", async () => {
    const endpointId = await seed(40)
    const filter = ["--endpoint", endpointId, "--reason", "exhausted", "--to", "2099-01-01T00:00:00Z"]
    const job = await runJson("dead-letters", "replay", ...filter, "--rate", "20", "--detach")
    expect(job).toEqual({
      ...{ id: expect.stringMatching(/^rpl_[0-9a-f]{32}$/), kind: "dead_letters", state: "running", rate: 20 },
      ...{ total: 40, replayed: 0, endpoint_id: endpointId, reason: "exhausted" },
      ...{ event_type: null, event_types: null, group_id: null, status: null },
      ...{ from: null, to: "2099-01-01T00:00:00.000000Z" },
      ...{ created_at: expect.any(String), finished_at: null, cancelled_at: null },
    })
    expect((await runJson("replays", "list")).data).toEqual([job])
    expect(await runJson("replays", "show", job.id)).toEqual(job)
    await meanwhile(ReplayJobQueue.use(({ replayNextChunk }) => replayNextChunk))
    const cancelled = await runJson("replays", "cancel", job.id, "--yes")
    expect(cancelled).toMatchObject({ state: "cancelled", replayed: 2 })
    expect((await run(["replays", "show", job.id, "--follow"])).stdout).toBe(
      "Cancelled after 2 dead letters of 40; those stay replayed.\n",
    )
  })
})

it("the sentence of a finished replay mentions dead letters that others had replayed or removed", () => {
  const replay = { kind: "dead_letters", state: "finished", total: 10, replayed: 7 } as Replay
  expect(describeReplay(replay)).toBe("Replayed 7 dead letters of 10; others had replayed or removed the rest.")
})

const left = async () => (await runJson("dead-letters", "list", "--limit", "1000")).data.length
const remove = ["dead-letters", "remove", "--older-than", "90d"]

it("dead-letters remove requires the count or --yes as a confirmation, which a dry run prints", async () => {
  await seed(5, { daysAgo: 91 })
  await seed(2, { daysAgo: 89 })
  const { data } = await runJson("dead-letters", "list")
  await runJson("dead-letters", "replay", data.at(-1).id)
  expect(await runJson(...remove, "--dry-run")).toMatchObject({ count: 5 })
  const unconfirmed = { code: "not_confirmed", count: 5, exit: 1 }
  for (const flags of [[], ["--confirm", "4"], ["--confirm", "4", "--yes"]]) {
    expect(await runFailing(...remove, ...flags)).toMatchObject(unconfirmed)
  }
  expect((await run(remove)).stderr).toMatch(
    /^Nothing was done\. Confirm with --confirm 5, or --yes for however many\. Remove dead letters: 5 dead letters \(1 replayed\) from before \S+ \S+ UTC \(all organizations\)\. Immediately\. This can't be undone\./,
  )
  expect(await left()).toBe(6)
  expect(await runJson(...remove, "--confirm", "5")).toMatchObject({ removed: 5 })
  expect(await left()).toBe(2)
  expect((await run([...remove, "--yes"])).stderr).toBe("\n0 dead letters removed.\n")
  expect((await run(["dead-letters", "remove", "--older-than", "80d"], {}, "y")).code).toBe(0)
  expect(await left()).toBe(0)
})

const seedLog = () =>
  meanwhile(function* () {
    const { endpoint, campaign } = yield* seedDeadLetters(0)
    yield* publishSent(campaign, 19)
    return endpoint.id
  })
const range = ["--from", "2020-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z"]

it("endpoints replay counts the events of a range on a dry run, and sends them to a disabled endpoint, where they wait", async () => {
  const endpoint = await seedLog()
  expect(await runJson("endpoints", "replay", endpoint, ...range, "--dry-run")).toMatchObject({ count: 20 })
  expect((await runJson("replays", "list")).data).toEqual([])
  const job = await runJson("endpoints", "replay", endpoint, ...range, ...RUNS_AT_ONCE, "--detach")
  expect(job).toMatchObject({ kind: "log", state: "running", total: 20, endpoint_id: endpoint, event_types: null })
  await runReplayJob()
  expect((await run(["replays", "show", job.id, "--follow"])).stdout).toBe("Replayed 20 events.\n")
  const sent = SqlClient.SqlClient.use(
    (sql) => sql<{ enabled: boolean }>`
      select enabled from deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
      where endpoint_id = ${endpoint} and replay`,
  )
  expect(await meanwhile(sent)).toEqual(Array.from({ length: 20 }, () => ({ enabled: false })))
})

it("deliveries retry counts the waiting deliveries on a dry run, sends them as a job, and requires one selection", async () => {
  const { endpoint } = await meanwhile(seedWaiting(12))
  const retry = ["deliveries", "retry", "--endpoint", endpoint.id]
  expect(await runJson(...retry, "--dry-run")).toEqual({
    count: 12,
    action: expect.stringMatching(/now: 12 deliveries, each with its next attempt \(.*\)\. Now, at 100 per second\.$/),
  })
  expect((await runJson("replays", "list")).data).toEqual([])
  const job = await runJson(...retry, ...RUNS_AT_ONCE, "--detach")
  expect(job).toMatchObject({ kind: "waiting", state: "running", total: 12, endpoint_id: endpoint.id })
  await runReplayJob()
  expect((await run(["replays", "show", job.id, "--follow"])).stdout).toBe("Sent 12 waiting deliveries.\n")
  expect((await run(retry)).stdout).toBe("Sent 0 waiting deliveries.\n")
  for (const selection of [[], ["--endpoint", endpoint.id, "--group", `fgr_${"0".repeat(32)}`]]) {
    expect(await runFailing("deliveries", "retry", ...selection)).toMatchObject({ code: "unclear_retry" })
  }
})
