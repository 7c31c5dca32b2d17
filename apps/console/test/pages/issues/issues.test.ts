import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { Timestamp } from "@outreach/domain/Timestamp"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { whileOpen } from "@outreach/testing/inTransaction"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

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
let theirs: typeof ours
const group = () => ours.groups[0]!.id

beforeAll(async () => {
  ours = await test().run(
    seed([
      [30, 500, "Database is down\nat line 1"],
      [2, 503, "Try jane@clinic.test later"],
    ]),
  )
  theirs = await test().run(seed([[1, 502, "Bad gateway"]]))
})

/** Seeds an issue of two dead letters that a test may change. */
const seedOther = async () => (await test().run(seed([[2, 503, "Try again later"]]))).groups[0]!.id

const runReplayJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* ReplayJobQueue
  for (let i = 0; i < 40; i++) {
    yield* sql`update replay_jobs set next_at = clock_timestamp() where finished_at is null`
    yield* jobs.replayNextChunk
  }
})

describe("issues", () => {
  it("are dead letters grouped by their cause, without what is personal, with a trend and where they lead", async () => {
    const viewer = await test().as("viewer")
    const { status, words, document, text } = await viewer.get(`/issues?organization=${ours.organization.id}`)
    expect(status).toBe(200)
    expect(words).toContain("32 dead letters in 2 issues were not delivered and not replayed.")
    expect(words).toContain("500 Database is down")
    expect(words).toContain("503 Try [e-mail] later")
    expect(text).not.toContain("jane@clinic.test")
    expect(document.querySelectorAll(".sparkline svg[role=img]")).toHaveLength(2)
    expect(document.querySelector(`a[href="/issues/${group()}"]`)!.textContent).toBe("500 Database is down")
    expect(words).toContain(`ops issues list --organization ${ours.organization.id}`)
    const rows = async (query: string) =>
      [...(await viewer.get(`/issues?${query}`)).document.querySelectorAll("section[aria-label=Issues] tbody tr")]
        .length
    expect(await rows("")).toBe(3)
    expect(await rows("status=502")).toBe(1)
    expect(await rows("state=dead")).toBe(3)
    expect(await rows("state=muted")).toBe(0)
    expect(await rows(`endpoint=${theirs.endpoint.id}&order=largest`)).toBe(1)
  })

  it("shows an operator of one organization nothing of another", async () => {
    const viewer = await test().as("viewer", theirs.organization.id)
    const { words, text } = await viewer.get("/issues")
    expect(words).toContain("1 dead letter in 1 issue were")
    expect(text).not.toContain("Database is down")
    expect((await viewer.get(`/issues/${group()}`)).status).toBe(404)
    const operator = await test().as("operator", theirs.organization.id)
    expect((await operator.get(`/dead-letters/replay?group=${group()}`)).status).toBe(404)
    expect((await operator.post("/dead-letters/replay", { group: group(), rate: "1" })).status).toBe(404)
    const all = await operator.get("/dead-letters/replay")
    expect(all.words).toContain("How many1 dead letter, each from attempt 1")
  })
})

describe("an issue", () => {
  it("shows its newest dead letters, a page after the other", async () => {
    const viewer = await test().as("viewer")
    const first = await viewer.get(`/issues/${group()}`)
    expect(first.words).toContain("500: Database is down")
    expect(first.words).toContain("Dead letters to replay30")
    const idsIn = (document: Document) =>
      [...document.querySelectorAll("section[aria-label=Deliveries] tbody td:first-child a")].map((a) => a.textContent)
    const second = await viewer.get(first.document.querySelector("a[rel=next]")!.getAttribute("href")!)
    expect([idsIn(first.document).length, idsIn(second.document).length]).toEqual([20, 10])
    expect(new Set([...idsIn(first.document), ...idsIn(second.document)]).size).toBe(30)
    expect(first.text).not.toContain("/dead-letters/replay?")
    expect((await viewer.get(`/issues/fgr_${"0".repeat(32)}`)).status).toBe(404)
  })

  it("is replayed as a whole and alone, after its count, its rate and how long it takes were shown", async () => {
    const own = (await test().run(seed([[30, 500, "Disk is full"]]))).groups[0]!.id
    const operator = await test().as("operator")
    const issue = await operator.get(`/issues/${own}`)
    const asked = await operator.get(
      issue.document.querySelector("a[href^='/dead-letters/replay']")!.getAttribute("href")!,
    )
    expect(asked.words).toContain("How many30 dead letters, each from attempt 1")
    expect(asked.words).toContain("at 100 a second it takes")
    expect(asked.words).toContain(`ops dead-letters replay --group ${own} --dry-run`)
    expect((await operator.post("/dead-letters/replay", { group: own, rate: "0" })).words).toContain(
      "Deliveries a second is not valid",
    )
    const replayed = await operator.post("/dead-letters/replay", { group: own, rate: "10" })
    expect(replayed.words).toContain("30 dead letters will be replayed at 10 a second, in 3 seconds.")
    const jobs = replayed.document.querySelector("#renewed")!
    expect(jobs.getAttribute("data-refresh")).toBe("3")
    expect(jobs.textContent).toContain("0 of 30")
    const [entry] = await test().run(
      Effect.flatMap(AuditLog.make, (log) => log.list({ command: "dead-letters replay" }, 1)),
    )
    expect(entry).toMatchObject({ result: "succeeded", arguments: { group: own, rate: 10 } })
    const again = await operator.post("/dead-letters/replay", { group: own, rate: "10" })
    const [job] = await test().run(Effect.flatMap(ReplayReader, ({ list }) => list(1)))
    expect(again.status).toBe(409)
    expect(again.words).toContain(`The replay ${job!.id} is running, and has some of these still to send.`)
    const dead = await test().run(Effect.flatMap(DeadLetterReader, ({ list }) => list({ groupId: own }, 1)))
    await operator.post("/deliveries/replay", { delivery: dead[0]!.id })
    expect((await operator.get("/issues")).words).toContain("0 of 30, 1 by others")
    await test().run(runReplayJobs)
    const after = await operator.get("/issues")
    expect(after.text).not.toContain("Disk is full")
    expect(after.words).toContain("29 of 30, 1 by others")
    expect(after.document.querySelector("#renewed")!.getAttribute("data-refresh")).toBeNull()
    expect((await operator.get(`/dead-letters/replay?group=${own}`)).words).toContain("No dead letter fits")
  })

  it("is waiting on a page that shows its replay as running, although the replay finishes while the page is read", async () => {
    const { groups, organization } = await test().run(seed([[2, 503, "Try again later"]]))
    const operator = await test().as("operator", organization.id)
    await operator.post("/dead-letters/replay", { group: groups[0]!.id, rate: "10" })
    const page = await test().run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const replayAll = Effect.andThen(sql`lock table replay_jobs in access exclusive mode`, runReplayJobs)
        // The page reads the jobs while the transaction that finishes them is open.
        const read = yield* whileOpen(replayAll, () =>
          Effect.gen(function* () {
            const fiber = yield* Effect.forkDetach(Effect.promise(() => operator.get("/issues")))
            const blocked = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
            while ((yield* blocked).length === 0) yield* Effect.yieldNow
            return fiber
          }),
        )
        return yield* Fiber.join(read)
      }),
    )
    expect(page.words).toContain("0 of 2")
    expect(page.words).toContain("2 dead letters in 1 issue were not delivered and not replayed.")
  })

  it("has its replay cancelled", async () => {
    const operator = await test().as("operator")
    const other = await seedOther()
    await operator.post("/dead-letters/replay", { group: other, rate: "1" })
    const [job] = await test().run(Effect.flatMap(ReplayReader, ({ list }) => list(1)))
    const asked = await operator.get(`/replays/${job!.id}/cancel`)
    expect(asked.words).toContain("How many2 of 2 are not replayed")
    const cancelled = await operator.post(`/replays/${job!.id}/cancel`)
    expect(cancelled.words).toContain("Cancelled after 0 of 2; those stay replayed.")
    expect((await operator.post(`/replays/${job!.id}/cancel`)).words).toContain("Cancelled after 0 of 2")
  })

  it("is muted with a reason, stands among the muted ones alone, and is unmuted", async () => {
    const other = await seedOther()
    const viewer = await test().as("viewer")
    expect((await viewer.post(`/issues/${other}/mute`, { reason: "known" })).status).toBe(403)
    const operator = await test().as("operator")
    expect((await operator.post(`/issues/${other}/mute`, { reason: "ask dana@clinic.test" })).words).toContain(
      "Reason is not valid",
    )
    const muted = await operator.post(`/issues/${other}/mute`, { reason: "their maintenance" })
    expect(muted.words).toContain("because: their maintenance")
    expect(muted.words).toContain(`ops issues unmute ${other}`)
    const isListed = async (query: string) => (await viewer.get(`/issues?${query}`)).text.includes(other)
    expect([await isListed(""), await isListed("state=dead"), await isListed("state=muted")]).toEqual([
      false,
      false,
      true,
    ])
    const [entry] = await test().run(Effect.flatMap(AuditLog.make, (log) => log.list({ command: "issues mute" }, 1)))
    expect(entry!.arguments).toMatchObject({ group: other, reason: "their maintenance" })
    await operator.post(`/issues/${other}/unmute`)
    expect([await isListed(""), await isListed("state=muted")]).toEqual([true, false])
  })

  it("loses its dead letters by an admin who types its count", async () => {
    const other = await seedOther()
    const operator = await test().as("operator")
    expect((await operator.get(`/issues/${other}/remove`)).status).toBe(403)
    const admin = await test().as("admin")
    const asked = await admin.get(`/issues/${other}/remove`)
    expect(asked.words).toContain("How many2 dead letters, of which 2 were never replayed")
    expect(asked.words).toContain("They are deleted for good.")
    const refused = await admin.post(`/issues/${other}/remove`, { typed: "3" })
    expect([refused.status, refused.words]).toEqual([409, expect.stringContaining("What was typed is not “2”.")])
    const removed = await admin.post(`/issues/${other}/remove`, { typed: "2" })
    expect(removed.words).toContain("2 dead letters removed.")
    expect((await admin.get(`/issues/${other}`)).words).toContain("Dead letters kept0")
    expect((await admin.get(`/issues/${theirs.groups[0]!.id}`)).status).toBe(200)
  })
})
