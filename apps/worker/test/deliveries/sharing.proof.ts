import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { createIdentifier } from "@outreach/domain/Identifier"
import { partner } from "@outreach/testing/partner"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run } = journey()

const ENDPOINTS = 40

it("shares endpoints evenly among 1, 2 and 4 workers, and reassigns those of a stopped worker", async () => {
  const to = await partner()
  const { campaign, organization, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: to.url }))
  to.trust(secret)
  const others = Effect.gen(function* () {
    const id = yield* createIdentifier("endpoint")
    const address = PrivateEndpointUrl.make(to.url)
    yield* (yield* EndpointRepository).create({ organizationId: organization.id, id, url: address, eventTypes: null })
  })
  await run(Effect.replicateEffect(others, ENDPOINTS - 1))

  /** Waits until this number of workers own all endpoints in equal shares. */
  const isShared = (workers: number) =>
    eventually(
      () =>
        run(sql<{ endpoints: number }>`
          select count(*)::int as endpoints from endpoint_readers join delivery_workers on owner = token group by token`),
      (shares) =>
        shares.length === workers &&
        shares.reduce((sum, { endpoints }) => sum + endpoints, 0) === ENDPOINTS &&
        shares.every(({ endpoints }) => Math.abs(endpoints - ENDPOINTS / workers) <= 1),
    )
  let published = 0
  /** Publishes events, and waits until every endpoint has received them. */
  const isDelivered = async () => {
    published += (await run(publishSent(campaign, 2))).length
    const arrived = () => new Set(to.received.map(({ deliveryId }) => deliveryId)).size
    await until(to, () => arrived() === published * ENDPOINTS)
  }

  await startWorker(url())
  await isShared(1)
  await startWorker(url())
  await isShared(2)
  const [third, fourth] = await Promise.all([startWorker(url()), startWorker(url())])
  await isShared(4)
  await isDelivered()
  await fourth.kill("SIGTERM")
  await isDelivered()
  await isShared(3)
  await third.kill("SIGKILL")
  await isDelivered()
  await isShared(2)
  expect(to.forged).toEqual([])
})
