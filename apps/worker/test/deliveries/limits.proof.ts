import type { ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, query } = journey()

const IN_FLIGHT = 3
const PER_SECOND = 20
const ROUNDS = 8
/** A call may take three seconds, and the partner answers within two, whether its caller lives or not. */
const SETTINGS = { WEBHOOK_CALL_SECONDS: "3", WEBHOOK_LEASE_SECONDS: "3", LOG_LEVEL: "info" }
const MAX_ANSWER_MS = 2000

/** A partner that answers after a while; counts what it has not answered, and when each call came. */
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

/** The most that came within any one second, by the partner's clock. */
const mostPerSecond = (at: ReadonlyArray<number>) =>
  Math.max(...at.map((from) => at.filter((each) => each >= from && each < from + 1000).length))

it("keeps an endpoint's limits over three workers that are killed, stopped and started, while it changes", async () => {
  const partners = [await startPartner(), await startPartner()] as const
  const { campaign, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: partners[0].to.url }))
  for (const { to } of partners) to.trust(secret)
  const endpoints = <A, E>(use: (endpoints: EndpointRepository["Service"]) => import("effect").Effect.Effect<A, E>) =>
    run(EndpointRepository.use(use))
  await endpoints(({ update }) => update(endpoint.id, { maxInFlight: IN_FLIGHT, perSecond: PER_SECOND }))

  const tokens = async () =>
    (await query<{ token: string }>((sql) => sql`select token::text from delivery_workers`)).map(({ token }) => token)
  const start = async () => {
    const before = await tokens()
    const { child, ended } = await startWorker(url(), SETTINGS)
    const [token] = await eventually(
      async () => (await tokens()).filter((each) => !before.includes(each)),
      ({ length }) => length === 1,
    )
    return { token: token!, child, ended }
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
  const received = () => new Set(partners.flatMap(({ to }) => to.received.map(({ event }) => event.event_id)))
  const published = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const id of await run(publishTogether(campaign, 60))) published.add(id)
    const before = received().size
    await eventually(received, ({ size }) => size >= Math.min(before + 15, published.size))
    if (round % 4 === 1) {
      const next = PrivateEndpointUrl.make(partners[((round - 1) / 4 + 1) % 2]!.to.url)
      await endpoints(({ update }) => update(endpoint.id, { url: next }))
    }
    if (round % 4 === 3) {
      await endpoints(({ disable }) => disable(endpoint.id))
      await endpoints(({ enable }) => enable(endpoint.id))
    }
    const index = await owner()
    const [ended] = workers.splice(index, 1)
    ended!.child.kill(round % 2 === 0 ? "SIGKILL" : "SIGTERM")
    if (round % 2 === 0) await ended!.ended
    workers.push(await start())
  }
  await eventually(received, ({ size }) => size === published.size)
  expect(received()).toEqual(published)
  for (const { calls } of partners) {
    console.log(
      `${calls.at.length} calls; at most ${calls.most} in flight, and ${mostPerSecond(calls.at)} within a second`,
    )
    expect(calls.most).toBeLessThanOrEqual(IN_FLIGHT)
  }
  // By one clock, in the seconds of a span and one more: a partner that stood still for a moment saw calls together.
  const at = partners.flatMap(({ calls }) => calls.at).toSorted((a, b) => a - b)
  for (const [i, from] of at.entries()) {
    for (const seconds of [1, 2, 5, 10]) {
      const count = at.slice(i).filter((each) => each < from + seconds * 1000).length
      expect(count).toBeLessThanOrEqual((seconds + 1) * PER_SECOND)
    }
  }
})
