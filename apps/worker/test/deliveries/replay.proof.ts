import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { type Replay, ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay, createLogReplay } from "@outreach/domain/deliveries/Replays"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { publishTogether } from "@outreach/testing/publishTogether"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onTestFinished } from "vitest"
import { journey } from "../journey.ts"

const { url, run, query } = journey()

const [KILLS, REPLAYED, RATE] = [6, 3000, 75]

const start = (settings: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("../../src/main.ts"))], {
    env: {
      DATABASE_URL: url(),
      SECRETS_KEY: SECRETS_KEY.toString("base64"),
      SMTP_URL: "smtp://127.0.0.1:1",
      MAIL_FROM: "Acme <outreach@acme.test>",
      LOG_LEVEL: "none",
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
      ADMIN_PORT: "0",
      ...settings,
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

/**
 * Lets two workers carry out a job while one of them at a time is killed and another started; returns the deliveries that came to the
 * partner. It answers after a moment, so that calls are in flight at each kill.
 */
const killWithin = async (
  seed: (to: Awaited<ReturnType<typeof partner>>) => Promise<{ readonly job: Replay; readonly endpointId: EndpointId }>,
) => {
  const to = await partner(async (_, response) => {
    await setTimeout(20)
    response.end()
  })
  const { job, endpointId } = await seed(to)
  const find = () => run(ReplayJobQueue.use(({ find }) => find(job.id)))
  const settings = { WEBHOOK_LEASE_SECONDS: "2", LOG_LEVEL: "none" }
  const kills = [start(settings), start(settings)]
  for (let n = 1; n <= KILLS; n++) {
    const seen = to.received.length
    await eventually(
      () => to.received.length,
      (length) => length > seen + 50,
    )
    expect((await find()).state).toBe("running")
    await kills.shift()!()
    kills.push(start(settings))
  }
  const ended = await eventually(find, ({ state }) => state !== "running")
  expect(ended).toMatchObject({ state: "finished", total: REPLAYED, replayed: REPLAYED, replayedByOthers: 0 })
  const left = () =>
    query<{ count: number }>(
      (sql) => sql`select count(*)::int as count from deliveries where endpoint_id = ${endpointId}`,
    )
  await eventually(left, ([row]) => row!.count === 0)
  const delivered = await query<{ id: string; lost: number }>(
    (sql) => sql`
      select id, (select count(*)::int from jsonb_array_elements(attempts) made where made->>'outcome' = 'outcome_unknown') as lost
      from delivered where endpoint_id = ${endpointId} and deliveries is null`,
  )
  expect(delivered).toHaveLength(REPLAYED)
  expect(to.forged).toEqual([])
  const came = new Map<string, number>()
  for (const { deliveryId } of to.received) came.set(deliveryId, (came.get(deliveryId) ?? 0) + 1)
  expect(new Set(came.keys())).toEqual(new Set(delivered.map(({ id }) => id)))
  // What came again was in a killed worker's hands, as its history says.
  for (const { id, lost } of delivered) expect(came.get(id)).toBeLessThanOrEqual(1 + lost)
  console.log(`${REPLAYED} replayed over ${KILLS} kills: ${to.received.length - came.size} came again`)
  return { to, deliveries: new Set(came.keys()), endpointId }
}

describe("a replay whose workers are killed while it sends", () => {
  const openFor = (
    to: Awaited<ReturnType<typeof partner>>,
    { endpoint, secret }: Effect.Success<ReturnType<typeof seedDeadLetters>>,
  ) => {
    to.trust(secret)
    return EndpointRepository.use(({ update, enable }) =>
      Effect.andThen(update(endpoint.id, { url: PrivateEndpointUrl.make(to.url) }), enable(endpoint.id)),
    )
  }

  it("makes one delivery of each dead letter, and each arrives", async () => {
    const { deliveries, endpointId } = await killWithin((to) =>
      run(
        Effect.gen(function* () {
          const seeded = yield* seedDeadLetters(REPLAYED)
          const endpointId = seeded.endpoint.id
          yield* openFor(to, seeded)
          return { job: yield* createDeadLetterReplay({ endpointId }, RATE), endpointId }
        }),
      ),
    )
    const made = await query<{ id: string }>(
      (sql) => sql`select replayed_as as id from dead_letters where endpoint_id = ${endpointId}`,
    )
    expect(deliveries).toEqual(new Set(made.map(({ id }) => id)))
  })

  it("sends each event of a log, as one delivery each", async () => {
    const { to } = await killWithin((to) =>
      run(
        Effect.gen(function* () {
          const seeded = yield* seedDeadLetters(0)
          const endpointId = seeded.endpoint.id
          yield* publishTogether(seeded.campaign, REPLAYED - 1)
          const sql = yield* SqlClient.SqlClient
          yield* sql`
            update reader_positions set begun_at = last, begun_id = '~' from organization_clock clock
            where endpoint_id = ${endpointId} and clock.organization_id = ${seeded.organization.id}`
          yield* openFor(to, seeded)
          const [from, to_] = [
            Timestamp.make("2020-01-01T00:00:00.000000Z"),
            Timestamp.make("2100-01-01T00:00:00.000000Z"),
          ]
          return { job: yield* createLogReplay({ endpointId, from, to: to_ }, RATE), endpointId }
        }),
      ),
    )
    expect(new Set(to.received.map(({ event }) => event.event_id)).size).toBe(REPLAYED)
  })
})

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
