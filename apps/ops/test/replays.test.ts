import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

beforeEach(() =>
  meanwhile(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`truncate replay_jobs, deliveries, dead_letters`)),
)

const seed = (...args: Parameters<typeof seedDeadLetters>) =>
  meanwhile(Effect.map(seedDeadLetters(...args), ({ endpoint }) => endpoint.id))

/** Works on the replay jobs, as a worker does, until one of them has ended. */
const runReplayJobs = () =>
  meanwhile(
    Effect.gen(function* () {
      const { replayNextChunk } = yield* ReplayJobQueue
      while (true) {
        const progress = yield* replayNextChunk
        if ("replay" in progress && progress.replay.state !== "running") return
        if ("nextInMs" in progress) yield* Effect.sleep(10)
      }
    }),
  )

describe("a replay by filters", () => {
  it("says on a dry run how many it would replay, by endpoint and reason, and replays none", async () => {
    const one = await seed(3)
    const other = await seed(1200, { reason: "poison" })
    expect(await runJson("dead-letters", "replay", "--all", "--dry-run")).toEqual({
      count: 1203,
      by_endpoint_and_reason: [
        { endpoint_id: other, reason: "poison", count: 1200 },
        { endpoint_id: one, reason: "exhausted", count: 3 },
      ],
    })
    const { stdout } = await run(["dead-letters", "replay", "--endpoint", one, "--dry-run"])
    expect(stdout).toMatch(
      /^3 dead letters would be replayed\.\n\nendpoint_id +reason +count\nwhe_\w+ +exhausted +3\n$/,
    )
    expect((await runJson("replays", "list")).data).toEqual([])
    expect((await runJson("deliveries", "list", "--state", "poison", "--limit", "1")).has_more).toBe(true)
  })

  it("is followed until the workers have done it", async () => {
    await seed(50)
    const [{ code, stdout, stderr }] = await Promise.all([
      run(["dead-letters", "replay", "--all", "--rate", "100"]),
      runReplayJobs(),
    ])
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Replayed 50 dead letters.\n" })
    expect(stderr).toMatch(/^Replaying 50 dead letters as rpl_[0-9a-f]{32}\.\n$/)
    expect(
      (await runJson("deliveries", "list", "--limit", "1000")).data.map(({ state }: { state: string }) => state),
    ).toEqual([...Array(50).fill("pending"), ...Array(50).fill("exhausted")])
  })

  it("is left to the workers with --detach, to be listed, shown, followed and cancelled", async () => {
    const endpointId = await seed(40)
    const filter = ["--endpoint", endpointId, "--reason", "exhausted", "--to", "2099-01-01T00:00:00Z"]
    const job = await runJson("dead-letters", "replay", ...filter, "--rate", "20", "--detach")
    expect(job).toEqual({
      id: expect.stringMatching(/^rpl_[0-9a-f]{32}$/),
      kind: "dead_letters",
      event_types: null,
      state: "running",
      total: 40,
      replayed: 0,
      replayed_by_others: 0,
      rate: 20,
      endpoint_id: endpointId,
      event_type: null,
      group_id: null,
      status: null,
      reason: "exhausted",
      from: null,
      to: "2099-01-01T00:00:00.000000Z",
      created_at: expect.any(String),
      finished_at: null,
      cancelled_at: null,
    })
    expect((await runJson("replays", "list")).data).toEqual([job])
    expect(await runJson("replays", "show", job.id)).toEqual(job)

    await meanwhile(Effect.flatMap(ReplayJobQueue, (book) => book.replayNextChunk))
    const cancelled = await runJson("replays", "cancel", job.id, "--yes")
    expect(cancelled).toMatchObject({ state: "cancelled", replayed: 2 })
    expect(await runJson("replays", "show", job.id, "--follow")).toEqual(cancelled)
    expect((await run(["replays", "show", job.id, "--follow"])).stdout).toBe(
      "Cancelled after 2 dead letters of 40; those stay replayed.\n",
    )

    const [rest] = await Promise.all([runJson("dead-letters", "replay", "--all", "--rate", "10000"), runReplayJobs()])
    expect(rest).toMatchObject({ state: "finished", total: 38, replayed: 38 })
    expect(await runFailing("replays", "cancel", rest.id)).toMatchObject({
      code: "replay_finished",
      replayed: 38,
      exit: 1,
    })
  })
})

describe("a replay beside another", () => {
  it("is refused, with the id of the one that runs", async () => {
    const endpointId = await seed(10)
    const job = await runJson("dead-letters", "replay", "--endpoint", endpointId, "--rate", "1", "--detach")
    const again = ["dead-letters", "replay", "--all", "--rate", "1", "--detach"]
    expect(await runFailing(...again)).toMatchObject({ code: "replay_overlaps", replay_id: job.id, exit: 1 })
    expect((await run(again)).stderr).toBe(
      `The replay ${job.id} is running, and has some of these still to send. Wait until it has ended, or cancel it first.\n`,
    )
    expect((await runJson("replays", "list")).data).toEqual([job])
  })

  it("says at its end what it replayed, and what others had replayed already", async () => {
    await seed(10)
    const { id } = await runJson("dead-letters", "replay", "--all", "--rate", "10", "--detach")
    const { data } = await runJson("dead-letters", "list")
    expect(await runJson("dead-letters", "replay", data[0].id, data[1].id)).toEqual({ replayed: 2 })
    await meanwhile(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from dead_letters where id = ${data[2].id}`),
    )
    await runReplayJobs()
    expect(await runJson("replays", "show", id)).toMatchObject({ total: 10, replayed: 7, replayed_by_others: 2 })
    expect((await run(["replays", "show", id, "--follow"])).stdout).toBe(
      "Replayed 7 dead letters of 10; others had replayed 2 already; 1 had been removed.\n",
    )
  })
})

describe("a removal", () => {
  const left = async () => (await runJson("dead-letters", "list", "--limit", "1000")).data.length
  const remove = ["dead-letters", "remove", "--older-than", "90d"]

  it("says on a dry run how many there are, and how many of them were replayed", async () => {
    await seed(4, { daysAgo: 91 })
    await seed(4, { daysAgo: 89 })
    const { data } = await runJson("dead-letters", "list")
    await runJson("dead-letters", "replay", data.at(-1).id)
    expect(await runJson(...remove, "--dry-run")).toEqual({ before: expect.any(String), count: 4, replayed: 1 })
    expect((await run([...remove, "--dry-run"])).stdout).toMatch(
      /^4 dead letters from before \S+ \S+ UTC, of which 1 were replayed, would be removed\.\n$/,
    )
    expect(await left()).toBe(7)
  })

  it("needs its confirmation without a terminal: the count that it would remove, or --yes", async () => {
    await seed(5, { daysAgo: 91 })
    await seed(1)
    expect(await runFailing(...remove)).toMatchObject({ code: "not_confirmed", count: 5, exit: 1 })
    expect(await runFailing(...remove, "--confirm", "4")).toMatchObject({ code: "not_confirmed", count: 5 })
    expect(await runFailing(...remove, "--confirm", "4", "--yes")).toMatchObject({ code: "not_confirmed", count: 5 })
    expect((await run(remove)).stderr).toMatch(
      /^Nothing was done: give --confirm 5, or --yes for however many, to remove 5 dead letters from before \S+ \S+ UTC, of which 0 were replayed, for good\.\n$/,
    )
    expect(await left()).toBe(6)
    expect(await runJson(...remove, "--confirm", "5")).toMatchObject({ removed: 5 })
    expect(await left()).toBe(1)
    expect((await run([...remove, "--yes"])).stdout).toBe("Removed 0 dead letters.\n")
  })

  it("takes only what the filters name", async () => {
    const endpointId = await seed(3, { daysAgo: 91, reason: "rejected" })
    await seed(3, { daysAgo: 91, reason: "rejected" })
    await seed(3, { daysAgo: 91, reason: "poison" })
    expect(await runJson(...remove, "--reason", "rejected", "--endpoint", endpointId, "--yes")).toMatchObject({
      removed: 3,
    })
    expect(await runJson(...remove, "--type", "outreach.email_bounced", "--yes")).toMatchObject({ removed: 0 })
    expect(await runJson(...remove, "--type", "outreach.email_sent", "--yes")).toMatchObject({ removed: 6 })
  })
})

describe("a replay of a range of an endpoint's log", () => {
  const seedLog = () =>
    meanwhile(
      Effect.gen(function* () {
        const { endpoint, campaign } = yield* seedDeadLetters(0)
        yield* publishSent(campaign, 19)
        return endpoint.id
      }),
    )
  const range = ["--from", "2020-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z"]

  it("says on a dry run how many events it would send, and sends none", async () => {
    const endpoint = await seedLog()
    expect(await runJson("endpoints", "replay", endpoint, ...range, "--dry-run")).toEqual({ count: 20 })
    const bounced = [...range, "--types", "outreach.email_bounced", "--dry-run"]
    expect((await run(["endpoints", "replay", endpoint, ...bounced])).stdout).toBe("0 events would be sent.\n")
    expect((await runJson("replays", "list")).data).toEqual([])
  })

  it("is refused when it ends before it begins, also by a microsecond, and so is every other range", async () => {
    const endpoint = await seedLog()
    const ranges = [
      ["2026-12-02T00:00:00Z", "2026-12-01T00:00:00Z"],
      ["2026-12-01T09:00:00.5Z", "2026-12-01T09:00:00Z"],
      ["2026-12-01T09:00:00.123457Z", "2026-12-01T09:00:00.123456Z"],
      ["2026-12-01T09:00:00Z", "2026-12-01T10:00:00.1+02:00"],
    ]
    for (const [from, to] of ranges) {
      for (const command of [
        ["endpoints", "replay", endpoint],
        ["dead-letters", "replay"],
        ["dead-letters", "list"],
        ["deliveries", "list"],
        ["inbox", "list"],
        ["audit", "list"],
      ]) {
        expect(await runFailing(...command, "--from", from!, "--to", to!)).toMatchObject({
          code: "invalid_range",
          exit: 1,
        })
      }
    }
    const { stderr } = await run(["endpoints", "replay", endpoint, "--from", ranges[1]![0]!, "--to", ranges[1]![1]!])
    expect(stderr).toBe(
      "--to is before --from: a range from 2026-12-01T09:00:00.500000Z to 2026-12-01T09:00:00.000000Z holds nothing. Swap the two, or correct one.\n",
    )
    const inOrder = ["--from", "2026-12-01T09:00:00Z", "--to", "2026-12-01T09:00:00.5Z", "--dry-run"]
    expect(await runJson("endpoints", "replay", endpoint, ...inOrder)).toEqual({ count: 0 })
    expect((await runJson("replays", "list")).data).toEqual([])
  })

  it("is followed, listed, shown and cancelled as that of dead letters is", async () => {
    const endpoint = await seedLog()
    const [{ code, stdout, stderr }] = await Promise.all([
      run(["endpoints", "replay", endpoint, ...range, "--rate", "1000"]),
      runReplayJobs(),
    ])
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Replayed 20 events.\n" })
    expect(stderr).toMatch(/^Sending 20 events as rpl_[0-9a-f]{32}\.\n$/)
    const job = await runJson("endpoints", "replay", endpoint, ...range, "--rate", "1", "--detach")
    expect(job).toMatchObject({ kind: "log", state: "running", total: 20, endpoint_id: endpoint, event_types: null })
    expect((await runJson("replays", "list")).data).toMatchObject([{ id: job.id }, { kind: "log", state: "finished" }])
    expect((await runJson("replays", "cancel", job.id, "--yes")).state).toBe("cancelled")
    expect(await runFailing("endpoints", "replay", `whe_${"0".repeat(32)}`, ...range)).toMatchObject({
      code: "endpoint_not_found",
    })
  })
})
