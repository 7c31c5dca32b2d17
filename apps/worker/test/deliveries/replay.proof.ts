import type { ServerResponse } from "node:http"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository, retryWaiting } from "@outreach/domain/deliveries/Endpoints"
import {
  createDeadLetterReplay,
  createLogReplay,
  type Replay,
  ReplayJobQueue,
} from "@outreach/domain/deliveries/Replays"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { partner } from "@outreach/testing/partner"
import { publishTogether } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { seedWaiting } from "@outreach/testing/seedWaiting"
import { column, sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run } = journey()

const [KILLS, REPLAYED, RATE] = [3, 600, 200]

/**
 * Runs a job with two workers, of which one at a time is killed and replaced. Returns the deliveries that the
 * partner received. The partner holds calls until the kill, so that some are in flight.
 */
const killWithin = async (
  seed: (to: Awaited<ReturnType<typeof partner>>) => Promise<{ readonly job: Replay; readonly endpointId: EndpointId }>,
) => {
  const held: Array<ServerResponse> = []
  let calls = 0
  let allowed = 50
  const to = await partner((_, response) => (++calls > allowed ? held.push(response) : response.end()))
  const { job, endpointId } = await seed(to)
  const find = () => run(ReplayJobQueue.use(({ find }) => find(job.id)))
  const start = () => startWorker(url(), { WEBHOOK_LEASE_SECONDS: "5", LOG_LEVEL: "info" })
  const workers = await Promise.all([start(), start()])
  for (let kills = 1; kills <= KILLS; kills++) {
    await until(to, () => held.length > 0)
    await workers.shift()!.kill()
    workers.push(await start())
    allowed = kills < KILLS ? calls + 50 : Number.POSITIVE_INFINITY
    for (const response of held.splice(0)) response.end()
  }
  const ended = await eventually(find, ({ state }) => state !== "running")
  expect(ended).toMatchObject({ state: "finished", total: REPLAYED, replayed: REPLAYED })
  const left = () =>
    run(sql<{ count: number }>`select count(*)::int as count from deliveries where endpoint_id = ${endpointId}`)
  await eventually(left, ([row]) => row!.count === 0)
  const delivered = await run(sql<{ id: string; failed: number }>`
    select id, (
      select count(*)::int from jsonb_array_elements(attempts) made where made->>'outcome' <> 'success' and (made->>'startedAt')::timestamptz > ${job.createdAt}::timestamptz
    ) as failed
    from delivered where endpoint_id = ${endpointId} and deliveries is null`)
  expect(delivered).toHaveLength(REPLAYED)
  expect(to.forged).toEqual([])
  const came = new Map<string, number>()
  for (const { deliveryId } of to.received) came.set(deliveryId, (came.get(deliveryId) ?? 0) + 1)
  expect(new Set(came.keys())).toEqual(new Set(delivered.map(({ id }) => id)))
  // Repeated deliveries were in flight in a killed worker, or held until the timeout, according to their history.
  for (const { id, failed } of delivered) expect(came.get(id)).toBeLessThanOrEqual(1 + failed)
  return { to, deliveries: new Set(came.keys()), endpointId }
}

describe("a job interrupted by killed workers", () => {
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
      run(function* () {
        const seeded = yield* seedDeadLetters(REPLAYED)
        const endpointId = seeded.endpoint.id
        yield* openFor(to, seeded)
        return { job: yield* createDeadLetterReplay({ endpointId }, RATE), endpointId }
      }),
    )
    const made = await run(column<string>`select replayed_as from dead_letters where endpoint_id = ${endpointId}`)
    expect(deliveries).toEqual(new Set(made))
  })

  it("sends each event of a log, as one delivery each", async () => {
    const { to } = await killWithin((to) =>
      run(function* () {
        const seeded = yield* seedDeadLetters(0)
        const endpointId = seeded.endpoint.id
        yield* publishTogether(seeded.campaign, REPLAYED - 1)
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
    )
    expect(new Set(to.received.map(({ event }) => event.event_id)).size).toBe(REPLAYED)
  })

  it("makes the second attempt of each waiting delivery, after its first", async () => {
    let ids: ReadonlyArray<string> = []
    const { to, deliveries, endpointId } = await killWithin((to) =>
      run(function* () {
        const seeded = yield* seedWaiting(REPLAYED)
        ids = seeded.ids
        yield* openFor(to, seeded)
        return { job: yield* retryWaiting({ endpointId: seeded.endpoint.id }, RATE), endpointId: seeded.endpoint.id }
      }),
    )
    expect(deliveries).toEqual(new Set(ids))
    // A lost call is repeated under its number.
    expect(Math.min(...to.received.map(({ attempt }) => attempt))).toBe(2)
    const kept = await run(column<boolean>`
      select attempts->0->>'number' = '1' and attempts->0->>'status' = '503' and attempts->1->>'number' = '2' from delivered
      where endpoint_id = ${endpointId} and deliveries is null`)
    expect(kept).toEqual(ids.map(() => true))
  })
})
