import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { Timestamp } from "@outreach/domain/Timestamp"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { whileOpen } from "@outreach/testing/inTransaction"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

const STARTED_AT = Timestamp.make("2026-11-01T00:00:00.000000Z")

/** An organization with dead letters: a number of each of these responses, with this status. */
const seed = Effect.fnUntraced(function* (
  failures: ReadonlyArray<readonly [count: number, status: number, response: string]>,
) {
  const seeded = yield* seedDeadLetters(0)
  const { organization, endpoint, eventId } = seeded
  for (const [count, status, response] of failures) {
    const attempt = { number: 1, startedAt: STARTED_AT, latencyMs: 5, status, outcome: "server_error", response }
    yield* insertDeadLetters(
      Array.from({ length: count }, (_, n) => ({
        ...{ organizationId: organization.id, endpointId: endpoint.id, eventId, reason: "exhausted" as const },
        attempts: [attempt],
        secondsAgo: (n + 1) * 60,
      })),
    )
  }
  const groups = yield* (yield* FailureGroupReader).largest({ organizationId: organization.id }, 10)
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
const newestReplay = async () => (await test().run(Effect.flatMap(ReplayReader, ({ list }) => list(1))))[0]!

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
      [...(await operator.get(`/issues?${query}`)).document.querySelectorAll("section[aria-label=Issues] tbody tr")]
        .length
    expect(await rows(`${only}&status=503`)).toBe(1)
    expect(await rows(`${only}&state=dead`)).toBe(2)
    expect(await rows(`${only}&state=muted`)).toBe(0)
    expect(await rows(`endpoint=${ours.endpoint.id}&order=largest`)).toBe(2)
  })
})

describe("an issue", () => {
  it("lists its newest dead letters, page by page", async () => {
    const first = await operator.get(`/issues/${group()}`)
    expect(first.words).toContain("500: Database is down")
    expect(first.words).toContain("Dead letters to replay30")
    const second = await operator.get(first.document.querySelector("a[rel=next]")!.getAttribute("href")!)
    const ids = [first, second].map(({ document }) =>
      [...document.querySelectorAll("section[aria-label=Deliveries] tbody td:first-child a")].map((a) => a.textContent),
    )
    expect([ids.map(({ length }) => length), new Set(ids.flat()).size]).toEqual([[20, 10], 30])
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
    expect(replayed.words).toContain("30 dead letters will be replayed at 10 per second, in 3 seconds.")
    const jobs = replayed.document.querySelector("#renewed")!
    expect([jobs.getAttribute("data-refresh"), jobs.textContent]).toEqual(["3", expect.stringContaining("0 of 30")])
    const again = await bound.post("/dead-letters/replay", { group: own, rate: "10" })
    const { id } = await newestReplay()
    expect([again.status, again.words]).toEqual([409, expect.stringContaining(`The replay ${id} is running`)])
    const dead = await test().run(Effect.flatMap(DeadLetterReader, ({ list }) => list({ groupId: own }, 1)))
    await bound.post("/deliveries/replay", { delivery: dead[0]!.id })
    expect((await bound.get("/issues")).words).toContain("0 of 30, 1 by other jobs")
    await test().run(runReplayJobs)
    const after = await bound.get("/issues")
    expect(after.text).not.toContain("Disk is full")
    expect(after.words).toContain("29 of 30, 1 by other jobs")
    expect(after.document.querySelector("#renewed")!.getAttribute("data-refresh")).toBeNull()
    expect((await bound.get(`/dead-letters/replay?group=${own}`)).words).toContain("No matching dead letter is left")
  })

  it("is waiting on a page that shows its replay as running, although the replay finishes while the page is read", async () => {
    const { groups, organization } = await test().run(seed([[2, 503, "Try again later"]]))
    const bound = await test().as("operator", organization.id)
    await bound.post("/dead-letters/replay", { group: groups[0]!.id, rate: "10" })
    const page = await test().run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const replayAll = Effect.andThen(sql`lock table replay_jobs in access exclusive mode`, runReplayJobs)
        // The page reads the jobs while the transaction that finishes them is open.
        const read = yield* whileOpen(replayAll, () =>
          Effect.gen(function* () {
            const fiber = yield* Effect.forkDetach(Effect.promise(() => bound.get("/issues")))
            const blocked = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
            while ((yield* blocked).length === 0) yield* Effect.yieldNow
            return fiber
          }),
        )
        return yield* Fiber.join(read)
      }),
    )
    expect(page.words).toContain("0 of 2")
    expect(page.words).toContain("2 dead letters in 1 issue weren't delivered or replayed.")
  })

  it("is listed only among the muted ones while it is muted, with the reason", async () => {
    const other = await seedOther()
    const mute = (reason: string) => operator.post(`/issues/${other}/mute`, { reason })
    expect((await mute("ask dana@clinic.test")).words).toContain("Reason is not valid")
    expect((await mute("their maintenance")).words).toContain(": their maintenance")
    const isListed = async (query: string) => (await operator.get(`/issues?${query}`)).text.includes(other)
    const listed = [await isListed(""), await isListed("state=dead"), await isListed("state=muted")]
    expect(listed).toEqual([false, false, true])
    await operator.post(`/issues/${other}/unmute`)
    expect([await isListed(""), await isListed("state=muted")]).toEqual([true, false])
  })

  it("loses its dead letters when an admin types their count", async () => {
    const other = await seedOther()
    const admin = await test().as("admin")
    const asked = await admin.get(`/issues/${other}/remove`)
    expect(asked.words).toContain("How many2 dead letters (2 never replayed)")
    expect((await admin.post(`/issues/${other}/remove`, { typed: "3" })).status).toBe(409)
    expect((await admin.post(`/issues/${other}/remove`, { typed: "2" })).words).toContain("2 dead letters removed.")
    expect((await admin.get(`/issues/${other}`)).words).toContain("Stored dead letters0")
    expect((await admin.get(`/issues/${group()}`)).words).toContain("Stored dead letters30")
  })
})
