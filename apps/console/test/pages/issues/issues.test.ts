import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { insertDeadLetters, seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

/** An organization with dead letters: a number of each of these responses, with this status. */
const seed = Effect.fnUntraced(function* (
  failures: ReadonlyArray<readonly [count: number, status: number, response: string]>,
) {
  const seeded = yield* seedDeadLetters(0)
  const { organization, endpoint, eventId } = seeded
  for (const [count, status, response] of failures) {
    yield* insertDeadLetters(
      Array.from({ length: count }, (_, n) => ({
        ...{ organizationId: organization.id, endpointId: endpoint.id, eventId, reason: "exhausted" as const },
        attempts: [{ status, response }],
        secondsAgo: (n + 1) * 60,
      })),
    )
  }
  const groups = yield* (yield* FailureGroupReader).list({ organizationId: organization.id, largest: true }, 10)
  return { ...seeded, groups }
})

let ours: Effect.Success<ReturnType<typeof seed>>
let operator: Visitor
const group = () => ours.groups[0]!.id

beforeAll(async () => {
  ours = await test().run(
    seed([
      [30, 500, "Database is down\nat line 1"],
      [2, 503, "Try jane@clinic.test later"],
    ]),
  )
  operator = await test().as("operator")
})

/** Seeds an issue of two dead letters that a test may change. */
const seedOther = async () => (await test().run(seed([[2, 503, "Try again later"]]))).groups[0]!.id
const newestReplay = async () => (await test().run(Effect.flatMap(ReplayReader, ({ list }) => list({}, 1))))[0]!

const runReplayJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* ReplayJobQueue
  for (let i = 0; i < 40; i++) {
    yield* sql`update replay_jobs set next_at = clock_timestamp() where finished_at is null`
    yield* jobs.replayNextChunk
  }
})

describe("the list of issues", () => {
  it("groups dead letters by their cause, without personal data", async () => {
    const { words, document, text } = await operator.get(`/issues?organization=${ours.organization.id}`)
    expect(words).toContain("32 dead letters in 2 issues weren't delivered or replayed.")
    expect(words).toContain("503 Try [e-mail] later")
    expect(text).not.toContain("jane@clinic.test")
    expect(document.querySelector(`a[href="/issues/${group()}"]`)!.textContent).toBe("500 Database is down")
  })

  it("is filtered by status, state and endpoint", async () => {
    const only = `organization=${ours.organization.id}`
    const rows = async (query: string) =>
      (await operator.get(`/issues?${query}`)).document.querySelectorAll("tbody tr").length
    expect(await rows(`${only}&status=503`)).toBe(1)
    expect(await rows(`${only}&state=dead`)).toBe(2)
    expect(await rows(`${only}&state=muted`)).toBe(0)
    expect(await rows(`endpoint=${ours.endpoint.id}&largest=yes`)).toBe(2)
  })
})

describe("an issue", () => {
  it("lists its newest dead letters, with a link to all", async () => {
    const first = await operator.get(`/issues/${group()}`)
    expect(first.words).toContain("500: Database is down")
    expect(first.words).toContain("Dead letters to replay30")
    const all = await operator.get(`/dead-letters?group=${group()}`)
    const [newest, ids] = [first, all].map(({ document }) =>
      [...document.querySelectorAll("td:first-child a[href^='/deliveries/']")].map((a) => a.textContent),
    )
    expect(ids).toHaveLength(30)
    expect(newest).toEqual(ids!.slice(0, 20))
    expect(first.document.querySelector(`a[href="/dead-letters?group=${group()}"]`)).not.toBeNull()
    expect((await operator.get(`/issues/fgr_${"0".repeat(32)}`)).status).toBe(404)
  })

  it("is replayed after its count and duration were shown, and shows the progress", async () => {
    const { groups, organization } = await test().run(seed([[30, 500, "Disk is full"]]))
    const own = groups[0]!.id
    const bound = await test().as("operator", organization.id)
    const issue = await bound.get(`/issues/${own}`)
    const link = issue.document.querySelector("a[href^='/dead-letters/replay']")!.getAttribute("href")!
    const asked = await bound.get(link)
    expect(asked.words).toContain("How many30 dead letters, each from attempt 1")
    expect(asked.words).toContain("at 100 per second it takes")
    const replayed = await bound.post("/dead-letters/replay", { group: own, rate: "10" })
    expect(replayed.words).toContain("sends 30 dead letters at 10 per second, in 3 seconds.")
    const jobs = replayed.document.querySelector("#list")!
    expect([jobs.getAttribute("data-refresh"), jobs.textContent]).toEqual(["3", expect.stringContaining("0 of 30")])
    const again = await bound.post("/dead-letters/replay", { group: own, rate: "10" })
    const { id } = await newestReplay()
    expect([again.status, again.words]).toEqual([409, expect.stringContaining(`The replay ${id} is running`)])
    const dead = await test().run(Effect.flatMap(DeadLetterReader, ({ list }) => list({ groupId: own }, 1)))
    await bound.post("/deliveries/replay", { delivery: dead[0]!.id })
    expect((await bound.get("/replays")).words).toContain("0 of 301")
    await test().run(runReplayJobs)
    expect((await bound.get("/issues")).text).not.toContain("Disk is full")
    const after = await bound.get("/replays")
    expect(after.words).toContain("29 of 301")
    expect(after.document.querySelector("#list")!.getAttribute("data-refresh")).toBeNull()
    expect((await bound.get(`/dead-letters/replay?group=${own}`)).words).toContain("No matching dead letter is left")
  })

  it("loses its dead letters when an admin types their count", async () => {
    const other = await seedOther()
    const admin = await test().as("admin")
    const asked = await admin.get(`/issues/${other}/remove`)
    expect(asked.words).toContain("How many2 dead letters (0 replayed) from before")
    expect((await admin.post(`/issues/${other}/remove`, { typed: "3" })).status).toBe(409)
    expect(asked.document.querySelector("[name=confirm]")!.getAttribute("value")).toBe("2")
    const changed = await admin.post(`/issues/${other}/remove`, { typed: "2", confirm: "1" })
    expect(changed.words).toContain("Nothing was done: 2 dead letters match, instead of 1.")
    expect((await admin.post(`/issues/${other}/remove`, { typed: "2" })).words).toContain("2 dead letters removed.")
    expect((await admin.get(`/issues/${other}`)).words).toContain("Stored dead letters0")
    expect((await admin.get(`/issues/${group()}`)).words).toContain("Stored dead letters30")
  })
})
