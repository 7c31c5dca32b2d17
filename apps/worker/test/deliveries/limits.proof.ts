import type { ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { partner } from "@outreach/testing/partner"
import { publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { column } from "@outreach/testing/sql"
import { Changes, eventually, until } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run } = journey()

const IN_FLIGHT = 3
const PER_SECOND = 20
const ROUNDS = 4
/** A call's timeout is three seconds, and the partner responds within two, even to a dead caller. */
const SETTINGS = { WEBHOOK_CALL_SECONDS: "3", WEBHOOK_LEASE_SECONDS: "3", LOG_LEVEL: "info" }
const MAX_ANSWER_MS = 2000

/** A partner that responds after a while. Counts open calls, and records the time of each. */
const startPartner = async () => {
  const calls = { open: 0, most: 0, at: [] as Array<number> }
  const to = await partner(async (_, response: ServerResponse) => {
    calls.at.push(performance.now())
    calls.most = Math.max(calls.most, ++calls.open)
    await setTimeout(Math.random() < 0.1 ? MAX_ANSWER_MS * Math.random() : 20)
    calls.open--
    response.end()
  })
  return { to, calls }
}

it("keeps an endpoint's limits over three workers that are killed, stopped and started, while it changes", async () => {
  const partners = [await startPartner(), await startPartner()] as const
  const { campaign, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: partners[0].to.url }))
  for (const { to } of partners) to.trust(secret)
  const endpoints = <A, E>(use: (endpoints: EndpointRepository["Service"]) => import("effect").Effect.Effect<A, E>) =>
    run(EndpointRepository.use(use))
  await endpoints(({ update }) => update(endpoint.id, { maxInFlight: IN_FLIGHT, perSecond: PER_SECOND }))

  const tokens = () => run(column<string>`select token::text from delivery_workers`)
  const start = async () => {
    const before = await tokens()
    const worker = await startWorker(url(), SETTINGS)
    const [token] = await eventually(
      async () => (await tokens()).filter((each) => !before.includes(each)),
      ({ length }) => length === 1,
    )
    return { token: token!, worker }
  }
  const workers = [await start(), await start(), await start()]
  const owner = () =>
    eventually(
      async () => {
        const { owner } = await endpoints(({ find }) => find(endpoint.id))
        return workers.findIndex(({ token }) => token === owner)
      },
      (index) => index >= 0,
    )
  const arrivals = { changes: new Changes() }
  for (const { to } of partners) to.changes.addEventListener("change", () => arrivals.changes.announce())
  const received = () => new Set(partners.flatMap(({ to }) => to.received.map(({ event }) => event.event_id)))
  const published = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const id of await run(publishTogether(campaign, 60))) published.add(id)
    const enough = Math.min(received().size + 15, published.size)
    await until(arrivals, () => received().size >= enough)
    if (round % 4 === 1) {
      const next = PrivateEndpointUrl.make(partners[((round - 1) / 4 + 1) % 2]!.to.url)
      await endpoints(({ update }) => update(endpoint.id, { url: next }))
    }
    if (round % 4 === 3) {
      await endpoints(({ disable }) => disable(endpoint.id))
      await endpoints(({ enable }) => enable(endpoint.id))
    }
    const [{ worker }] = workers.splice(await owner(), 1) as [(typeof workers)[number]]
    if (round % 2 === 0) await worker.kill("SIGKILL")
    else worker.child.kill("SIGTERM")
    workers.push(await start())
  }
  await until(arrivals, () => received().size === published.size)
  expect(received()).toEqual(published)
  for (const { calls } of partners) {
    expect(calls.most).toBeLessThanOrEqual(IN_FLIGHT)
  }
  // Measured by one clock over a span plus one second: a partner that paused for a moment receives calls together.
  const at = partners.flatMap(({ calls }) => calls.at).toSorted((a, b) => a - b)
  for (const [i, from] of at.entries()) {
    for (const seconds of [1, 2, 5, 10]) {
      const count = at.slice(i).filter((each) => each < from + seconds * 1000).length
      expect(count).toBeLessThanOrEqual((seconds + 1) * PER_SECOND)
    }
  }
})
