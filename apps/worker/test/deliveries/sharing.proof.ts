import { setTimeout } from "node:timers/promises"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createIdentifier, type EndpointId, type EventId } from "@outreach/domain/Identifier"
import { deliveryId } from "@outreach/postgres/deliveries/deliveryId"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, query } = journey()

const ENDPOINTS = 40
/** Of a quiet machine, 15 s for a share, 1 s for a handover and 12 s for a takeover are promised; what is asserted leaves a busy one room. */
const LIMIT_SECONDS = { share: 60, handover: 15, takeover: 40 }

interface Share {
  readonly token: string
  readonly endpoints: number
}

it("shares endpoints evenly among 1, 2 and 4 workers, and passes on what a worker leaves", async () => {
  const arrivals = new Map<string, number>()
  const to = await partner(({ deliveryId }, response) => {
    if (!arrivals.has(deliveryId)) arrivals.set(deliveryId, performance.now())
    response.end()
  })
  const { campaign, organization, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: to.url }))
  to.trust(secret)
  const address = PrivateEndpointUrl.make(to.url)
  const others = Effect.gen(function* () {
    const id = yield* createIdentifier("endpoint")
    yield* (yield* EndpointRepository).create({ organizationId: organization.id, id, url: address, eventTypes: null })
  })
  await run(Effect.replicateEffect(others, ENDPOINTS - 1))
  expect(endpoint.organizationId).toBe(organization.id)

  const shares = () =>
    query<Share>(
      (sql) => sql`
        select token::text, count(endpoint_id)::int as endpoints
        from delivery_workers left join endpoint_readers on owner = token
        group by token order by token`,
    )
  const start = async () => {
    const before = new Set((await shares()).map(({ token }) => token))
    const { child, ended } = await startWorker(url())
    const [own] = await eventually(
      async () => (await shares()).filter(({ token }) => !before.has(token)),
      ({ length }) => length === 1,
    )
    return { token: own!.token, child, ended }
  }
  /** Waits until each of these workers has its share, and says how long that took. */
  const isShared = async (after: string, workers: ReadonlyArray<{ readonly token: string }>) => {
    const began = performance.now()
    const own = new Set(workers.map(({ token }) => token))
    const even = await eventually(
      async () => (await shares()).filter(({ token }) => own.has(token)).map(({ endpoints }) => endpoints),
      (endpoints) =>
        endpoints.length === own.size &&
        endpoints.reduce((sum, each) => sum + each, 0) === ENDPOINTS &&
        endpoints.every((each) => Math.abs(each - ENDPOINTS / own.size) <= 1),
      LIMIT_SECONDS.share * 1000,
    )
    expect(
      even.reduce((sum, each) => sum + each, 0),
      after,
    ).toBe(ENDPOINTS)
    for (const each of even) expect(Math.abs(each - ENDPOINTS / own.size), after).toBeLessThanOrEqual(1)
    console.log(`${after}: ${even.join(", ")} endpoints after ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }

  const first = await start()
  await isShared("1 worker", [first])
  const second = await start()
  await isShared("a second worker", [first, second])
  const [third, fourth] = [await start(), await start()]
  await isShared("4 workers", [first, second, third, fourth])

  const published = new Map<EventId, number>()
  let isOver = false
  const publishing = (async () => {
    while (!isOver) {
      const at = performance.now()
      for (const id of await run(publishSent(campaign, 1))) published.set(id as EventId, at)
      await setTimeout(50)
    }
  })()
  /** Says how long after a moment the first event came to an endpoint that was published from then on. */
  const firstSince = (at: number, id: EndpointId) =>
    Math.min(
      ...[...published].map(([eventId, publishedAt]) =>
        publishedAt < at
          ? Number.POSITIVE_INFINITY
          : (arrivals.get(deliveryId(eventId, id)) ?? Number.POSITIVE_INFINITY) - at,
      ),
    )
  /** Ends a worker, and says when the last of its endpoints had an event that was published from then on. */
  const end = async (worker: typeof first, signal: "SIGTERM" | "SIGKILL", limitSeconds: number) => {
    await setTimeout(1000)
    const its = await query<{ id: EndpointId }>(
      (sql) => sql`select endpoint_id as id from endpoint_readers where owner = ${worker.token}`,
    )
    const at = performance.now()
    worker.child.kill(signal)
    await worker.ended
    const waits = await eventually(
      () => its.map(({ id }) => firstSince(at, id)),
      (waits) => waits.every(Number.isFinite),
      limitSeconds * 1000,
    )
    const longest = Math.max(...waits) / 1000
    console.log(`${signal}: the last of ${its.length} endpoints had its next attempt ${longest.toFixed(2)} s later`)
    expect(longest).toBeLessThan(limitSeconds)
  }

  await end(fourth, "SIGTERM", LIMIT_SECONDS.handover)
  await isShared("3 workers after a SIGTERM", [first, second, third])
  await end(third, "SIGKILL", LIMIT_SECONDS.takeover)
  await isShared("2 workers after a kill", [first, second])
  isOver = true
  await publishing

  const expected = published.size * ENDPOINTS
  expect(
    await eventually(
      () => arrivals.size,
      (size) => size === expected,
    ),
  ).toBe(expected)
  expect(to.forged).toEqual([])
})
