import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { type Replay, ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay } from "@outreach/domain/deliveries/Replays"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { onTestFinished } from "vitest"
import { journey } from "../journey.ts"

const { url, run, query } = journey()

const start = () => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("../../src/main.ts"))], {
    env: {
      DATABASE_URL: url(),
      SECRETS_KEY: SECRETS_KEY.toString("base64"),
      SMTP_URL: "smtp://127.0.0.1:1",
      MAIL_FROM: "Acme <outreach@acme.test>",
      LOG_LEVEL: "none",
    },
    stdio: "ignore",
  })
  const ended = once(child, "exit")
  const kill = async () => {
    child.kill("SIGKILL")
    await ended
  }
  onTestFinished(kill)
  return kill
}

/** Creates a job of a number of dead letters, and answers what follows it. */
const replayOf = async (deadLetters: number, rate: number) => {
  const { endpoint } = await run(seedDeadLetters(deadLetters))
  const endpointId = endpoint.id
  const { id } = await run(createDeadLetterReplay({ endpointId }, rate))
  const find = () => run(Effect.flatMap(ReplayJobQueue, (book) => book.find(id)))
  return {
    until: (satisfies: (job: Replay) => boolean) => eventually(find, satisfies),
    cancel: () => run(Effect.flatMap(ReplayJobQueue, (book) => book.cancel(id))),
    /** Lists when each new delivery was made, by the database's clock in milliseconds, and how many dead letters have one of their own. */
    outcome: async () => {
      const made = await query<{ at: Timestamp }>(
        (sql) =>
          sql`select created_at as at from deliveries where endpoint_id = ${endpointId} and replay order by created_at`,
      )
      const [{ paired }] = (await query<{ paired: number }>(
        (sql) => sql`
          select count(*)::int as paired from dead_letters dead join deliveries made on made.id = replayed_as
          where dead.endpoint_id = ${endpointId}`,
      )) as [{ paired: number }]
      return { madeAt: made.map(({ at }) => toUnixMillis(at)), paired }
    },
  }
}

/** Counts the most that was made within any one second. */
const maxPerSecond = (madeAt: ReadonlyArray<number>): number => {
  let most = 0
  let first = 0
  for (const [last, at] of madeAt.entries()) {
    while (at - madeAt[first]! >= 1000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

describe("a replay", () => {
  it("loses and repeats nothing when its workers are killed, and goes on where it stood", async () => {
    const job = await replayOf(5000, 1000)
    for (const replayed of [500, 1500, 2500, 3500]) {
      const kill = start()
      const { state } = await job.until((job) => job.replayed >= replayed)
      await kill()
      expect(state).toBe("running")
    }
    start()
    expect(await job.until(({ state }) => state !== "running")).toMatchObject({
      state: "finished",
      total: 5000,
      replayed: 5000,
    })
    const { madeAt, paired } = await job.outcome()
    expect({ made: madeAt.length, paired }).toEqual({ made: 5000, paired: 5000 })
  })

  it("keeps its rate, however many workers there are", async () => {
    start()
    start()
    const job = await replayOf(1500, 500)
    await job.until(({ state }) => state === "finished")
    const { madeAt, paired } = await job.outcome()
    expect({ made: madeAt.length, paired }).toEqual({ made: 1500, paired: 1500 })
    // Chunks are of a tenth of the rate; one may be made good, and one may lie on the second's edge.
    expect(maxPerSecond(madeAt)).toBeLessThanOrEqual(600)
    // The first and the one made good go out at once, and the last is waited for by nobody.
    expect(madeAt.at(-1)! - madeAt[0]!).toBeGreaterThanOrEqual(2700)
  })

  it("stops when it is cancelled, and keeps what it did", async () => {
    start()
    const job = await replayOf(1000, 100)
    await job.until(({ replayed }) => replayed > 0)
    const { state, replayed } = await job.cancel()
    expect(state).toBe("cancelled")
    // Another job that is carried out later shows that the worker had its turns.
    const next = await replayOf(200, 200)
    await next.until(({ state }) => state === "finished")
    const { madeAt, paired } = await job.outcome()
    expect({ made: madeAt.length, paired }).toEqual({ made: replayed, paired: replayed })
  })
})
