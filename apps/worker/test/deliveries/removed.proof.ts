import type { ServerResponse } from "node:http"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository, removeEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { createLogReplay } from "@outreach/domain/deliveries/Replays"
import { createIdentifier } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { partner } from "@outreach/testing/partner"
import { publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, kill } = journey()

/** Every second of the first calls fails; later ones hang. */
const [EVENTS, REFUSED, IN_FLIGHT] = [600, 80, 8]
const SETTINGS = { WEBHOOK_LEASE_SECONDS: "5" }

it("an endpoint that is removed while its worker is killed is called no more, and the next worker ends its work", async () => {
  const held: Array<ServerResponse> = []
  let calls = 0
  const to = await partner((_, response) => {
    if (++calls > REFUSED) held.push(response)
    else response.writeHead(calls % 2 === 0 ? 500 : 200).end()
  })
  const other = await partner()
  const { campaign, endpoint, secret, otherId } = await run(function* () {
    const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: to.url })
    const endpoints = yield* EndpointRepository
    yield* endpoints.update(seeded.endpoint.id, { maxInFlight: IN_FLIGHT })
    const made = yield* endpoints.create({
      ...{ organizationId: seeded.organization.id, id: yield* createIdentifier("endpoint") },
      url: PrivateEndpointUrl.make(other.url),
    })
    yield* publishTogether(seeded.campaign, EVENTS)
    const range = {
      from: Timestamp.make("2020-01-01T00:00:00.000000Z"),
      to: Timestamp.make("2100-01-01T00:00:00.000000Z"),
    }
    yield* createLogReplay({ endpointId: seeded.endpoint.id, ...range }, 10)
    return { ...seeded, otherId: made.id }
  })
  for (const each of [to, other]) each.trust(secret)
  const state = async () => {
    const [row] = await run(sql<{ retries: number; replays: number; rows: number; jobs: number; isOwned: boolean }>`
      select (select count(*)::int from deliveries where endpoint_id = ${endpoint.id} and attempts > 0) as retries,
        (select count(*)::int from deliveries where endpoint_id = ${endpoint.id} and replay) as replays,
        (select count(*)::int from deliveries where endpoint_id = ${endpoint.id}) as rows,
        (select count(*)::int from replay_jobs
          where endpoint_id = ${endpoint.id} and cancelled_at is null and finished_at is null) as jobs,
        owner is not null as "isOwned"
      from endpoint_readers where endpoint_id = ${endpoint.id}`)
    return row!
  }

  const caller = await startWorker(url(), SETTINGS)
  // All its calls are in flight, and retries and replays wait.
  await until(to, () => held.length === IN_FLIGHT)
  await eventually(state, ({ retries, replays, jobs }) => retries >= REFUSED / 2 && replays > 0 && jobs === 1)
  await run(removeEndpoint(endpoint.id))
  const called = to.received.length
  const inFlight = to.received.slice(-IN_FLIGHT).map(({ deliveryId }) => deliveryId)
  await kill(caller)
  for (const response of held) response.end()
  await startWorker(url(), SETTINGS)
  await eventually(state, ({ rows, jobs, isOwned }) => rows === 0 && jobs === 0 && !isOwned)

  const history = await run(deliveriesTo(endpoint.id))
  expect(history.filter(({ state }) => state === "pending" || state === "sending")).toEqual([])
  const lost = history.filter(({ made }) => made.some(({ outcome }) => outcome === "outcome_unknown"))
  expect(lost.map(({ id }) => id as string)).toEqual(expect.arrayContaining(inFlight))
  const attempts = new Map(history.map(({ id, made }) => [id as string, made.length]))
  const callsOf = (id: string) => to.received.filter(({ deliveryId }) => deliveryId === id).length
  expect(to.received.filter(({ deliveryId: id }) => (attempts.get(id) ?? 0) < callsOf(id))).toEqual([])
  const orphans = sql`select from delivery_attempts where not exists (select from deliveries where id = delivery_id)`
  expect(await run(orphans)).toEqual([])
  await run(publishTogether(campaign, 50))
  await eventually(
    () => run(deliveriesTo(otherId)),
    (all) => all.length === EVENTS + 50 && all.every(({ state }) => state === "delivered"),
  )
  expect([to.received.length, to.forged, other.forged]).toEqual([called, [], []])
})
