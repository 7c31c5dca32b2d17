import { expect } from "@effect/vitest"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import type { SettingChanges } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { WebhookClient } from "@outreach/domain/deliveries/WebhookClient"
import type { EndpointId } from "@outreach/domain/Identifier"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { startForwardProxy } from "@outreach/testing/startForwardProxy"
import { Changes, until } from "@outreach/testing/until"
import { HttpWebhookClient } from "@outreach/webhooks/HttpWebhookClient"
import { ConfigProvider, Deferred, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { accept, hold, httpClient, respondWith, startReceiver, verifies, whileDelivering } from "./receiver.ts"

const { test } = testsOnDatabase()

const HOUR = 3600
const often = Schedule.spaced("20 millis")

/** Starts a receiver, and seeds its endpoint with settings. */
const startEndpoint = Effect.fnUntraced(function* (
  first: Parameters<typeof startReceiver>[0],
  settings: SettingChanges = {},
) {
  const receiver = yield* Effect.promise(() => startReceiver(first))
  const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: receiver.url })
  yield* EndpointRepository.use(({ update }) => update(seeded.endpoint.id, settings))
  return { ...seeded, ...receiver, id: seeded.endpoint.id }
})

/** Waits until the deliveries to an endpoint meet a condition. Returns them. */
const deliveries = (id: EndpointId, satisfies: (found: Effect.Success<ReturnType<typeof deliveriesTo>>) => boolean) =>
  deliveriesTo(id).pipe(Effect.repeat({ until: satisfies, schedule: often }))

/** Waits until the only delivery is pending after one attempt. Returns its id, and the seconds between the attempt's start and the next attempt. */
const pending = Effect.fnUntraced(function* (id: EndpointId) {
  const [found] = yield* deliveries(id, ([delivery]) => delivery?.state === "pending" && delivery.made.length === 1)
  const [row] = yield* sql<{ seconds: number }>`
    select extract(epoch from due_at - started_at)::double precision as seconds
    from deliveries join delivery_attempts on delivery_id = id where id = ${found!.id}`
  return { id: found!.id, seconds: row!.seconds }
})

const retryNow = (id: Effect.Success<ReturnType<typeof pending>>["id"]) =>
  DeliveryRepository.use((repository) => repository.retryNow(id))
const sorted = (ids: Iterable<string>) => [...ids].sort()

test("a delivery is retried after 5xx with the same event until it is delivered, although the responses to reading and taking it were lost or late", function* () {
  const { campaign, id, calls } = yield* startEndpoint(({ headers, response }) =>
    response.writeHead(Number(headers["x-delivery-attempt"]) < 3 ? 503 : 200).end(),
  )
  const counts = { read: 0, taken: 0 }
  const lose = Effect.die(new Error("the connection broke"))
  let late: Effect.Effect<unknown> = Effect.void
  const delivering = Effect.andThen(
    publishSent(campaign, 1),
    deliveries(id, ([delivery]) => delivery?.state === "delivered"),
  )
  const [delivery] = yield* whileDelivering(delivering, { retryAfter: "0s,0s,1h" }).pipe(
    Effect.provideServiceEffect(
      DeliveryLeases,
      Effect.gen(function* () {
        const client = yield* SqlClient.SqlClient
        const leases = yield* DeliveryLeases
        return {
          ...leases,
          read: (...given) =>
            Effect.tap(leases.read(...given), (found) =>
              found.length > 0 && counts.read++ === 0 ? lose : Effect.void,
            ),
          takeDue: Effect.fnUntraced(function* (...given) {
            const found = yield* leases.takeDue(...given)
            if (found.length === 0) return found
            counts.taken++
            if (counts.taken === 2) {
              // As if the statement waited until the rows were released.
              late = leases.takeDue(...given)
              yield* Effect.orDie(client`update deliveries set owner = null, owned_at = null`)
            }
            return counts.taken < 3 ? yield* lose : found
          }),
          releaseUnknown: (...given) =>
            Effect.andThen(
              leases.releaseUnknown(...given),
              Effect.suspend(() => {
                const statement = late
                late = Effect.void
                return statement
              }),
            ),
        }
      }),
    ),
  )
  expect(counts).toEqual({ read: 2, taken: 4 })
  expect(delivery).toMatchObject({ state: "delivered", attempts: 3 })
  expect(delivery!.made).toMatchObject([
    { number: 1, outcome: "server_error", status: 503 },
    { number: 2, outcome: "server_error", status: 503 },
    { number: 3, outcome: "success", status: 200 },
  ])
  expect(new Set(calls.map(({ eventId }) => eventId)).size).toBe(1)
  expect(calls.map(({ headers }) => headers["x-delivery-attempt"])).toEqual(["1", "2", "3"])
})

test("a delivery that was taken without a response is released for the next owner after its endpoint was given up", function* () {
  const { campaign, id } = yield* startEndpoint(respondWith(503))
  const lost = yield* Deferred.make<void>()
  const delivering = Effect.gen(function* () {
    yield* publishSent(campaign, 1)
    yield* Deferred.await(lost)
    yield* EndpointRepository.use(({ disable }) => disable(id))
    const owners = sql`
      select reader.owner as endpoint, delivery.owner as delivery
      from endpoint_readers reader join deliveries delivery using (endpoint_id) where endpoint_id = ${id}`
    return yield* Effect.repeat(owners, {
      until: ([row]) => row?.["endpoint"] === null && row["delivery"] === null,
      schedule: often,
    })
  })
  const lose = Effect.andThen(Deferred.succeed(lost, undefined), Effect.die(new Error("the connection broke")))
  const owners = yield* whileDelivering(delivering, { retryAfter: "0s,1h" }).pipe(
    Effect.updateService(DeliveryLeases, (leases) => ({
      ...leases,
      takeDue: (...given) =>
        Effect.tap(leases.takeDue(...given), (found) =>
          found.length > 0 && !Deferred.isDoneUnsafe(lost) ? lose : Effect.void,
        ),
    })),
  )
  expect(owners).toEqual([{ endpoint: null, delivery: null }])
})

test("every call has the endpoint's headers as they are when it starts", function* () {
  const { campaign, id, receives } = yield* startEndpoint(respondWith(503), {
    headers: Redacted.make({ "X-Api-Key": "first" }),
  })
  yield* whileDelivering(
    Effect.gen(function* () {
      yield* publishSent(campaign, 1)
      yield* receives(1)
      yield* EndpointRepository.use(({ update }) => update(id, { headers: Redacted.make({ "X-Api-Key": "second" }) }))
      yield* retryNow((yield* pending(id)).id)
      const [first, second] = yield* receives(2)
      expect([first, second].map((call) => call!.headers["x-api-key"])).toEqual(["first", "second"])
    }),
  )
})

test("deliveries through a forward proxy that fails wait without an attempt, and are sent once it works", function* () {
  const { campaign, id, calls, receives } = yield* startEndpoint(accept)
  let isBroken = true
  const failures = new Changes()
  const { url, requests } = yield* Effect.promise(() =>
    startForwardProxy(() => {
      failures.announce()
      return isBroken ? 407 : 200
    }),
  )
  const proxy = yield* webhookProxy.parse(ConfigProvider.fromEnv({ env: { WEBHOOK_PROXY_URL: url } }))
  const client = HttpWebhookClient({ allowPrivateAddresses: true, callMs: 600_000, proxy })
  yield* whileDelivering(
    Effect.gen(function* () {
      yield* publishSent(campaign, 1)
      yield* Effect.promise(() => until({ changes: failures }, () => requests.length >= 1 && requests))
      expect(calls).toEqual([])
      isBroken = false
      const [call] = yield* receives(1)
      expect(call!.headers["x-delivery-attempt"]).toBe("1")
      const [delivery] = yield* deliveries(id, ([found]) => found?.state === "delivered")
      expect(delivery!.made).toMatchObject([{ number: 1, outcome: "success" }])
      expect(yield* EndpointRepository.use(({ find }) => find(id))).toMatchObject({ breaker: "closed", failures: 0 })
    }),
    { client },
  )
})

test("deliveries are counted once if the response to writing them is lost, including those that arrive meanwhile", function* () {
  const { campaign, id } = yield* startEndpoint(accept)
  let lost = 0
  const delivering = Effect.gen(function* () {
    yield* publishTogether(campaign, 40)
    yield* deliveries(id, (found) => found.length === 40 && found.every(({ state }) => state === "delivered"))
    return yield* sql`select sum(delivered)::int as delivered from delivery_outcomes where endpoint_id = ${id}`
  })
  const counted = yield* whileDelivering(delivering, { perEndpoint: 4 }).pipe(
    Effect.updateService(DeliveryLeases, (leases) => ({
      ...leases,
      write: (worker, progress) =>
        Effect.flatMap(leases.write(worker, progress), (written) =>
          progress.some(({ outcomes }) => outcomes.length > 0) && lost++ < 2
            ? Effect.die(new Error("the connection broke"))
            : Effect.succeed(written),
        ),
    })),
  )
  expect(counted).toEqual([{ delivered: 40 }])
})

test("a delivery with a defective call is sent again as the same attempt, without delaying other deliveries", function* () {
  const { campaign, id, url, calls } = yield* startEndpoint(accept)
  let failed = 0
  const defect = Effect.die(new Error("a defect"))
  // Deliveries of earlier tests may be called first.
  const client = Layer.effect(
    WebhookClient,
    Effect.map(WebhookClient, ({ post }) => ({
      post: (endpoint, ...call) => (endpoint.url === url && failed++ === 0 ? defect : post(endpoint, ...call)),
    })),
  ).pipe(Layer.provide(httpClient))
  const delivering = Effect.gen(function* () {
    yield* publishTogether(campaign, 3)
    const settled = yield* deliveries(
      id,
      (found) =>
        found
          .map(({ state }) => state)
          .toSorted()
          .join() === "delivered,delivered,pending",
    )
    yield* retryNow(settled.find(({ state }) => state === "pending")!.id)
    return yield* deliveries(id, (found) => found.every(({ state }) => state === "delivered"))
  })
  const delivered = yield* whileDelivering(delivering, { client })
  expect(delivered.map(({ attempts, made }) => [attempts, made.length])).toEqual(Array(3).fill([1, 1]))
  expect(calls.map(({ headers }) => headers["x-delivery-attempt"])).toEqual(["1", "1", "1"])
})

test("a delivery is left to the next worker if it does not end while its worker stops", function* () {
  const { campaign, id, calls, receives } = yield* startEndpoint(hold)
  yield* whileDelivering(Effect.andThen(publishSent(campaign, 1), receives(1)))
  expect(yield* deliveriesTo(id)).toMatchObject([{ state: "sending", attempts: 0 }])
  yield* whileDelivering(receives(2))
  expect(calls.map(({ headers }) => headers["x-delivery-attempt"])).toEqual(["1", "1"])
})

test("an endpoint's own retry rules retry its statuses on its schedule, respect Retry-After, and end after the last delay", function* () {
  const settings = { retryStatuses: [429], retryDelays: [HOUR, 24 * HOUR] }
  const endpoint = yield* startEndpoint(respondWith(429, { "Retry-After": String(2 * HOUR) }), settings)
  yield* whileDelivering(
    Effect.gen(function* () {
      yield* publishSent(endpoint.campaign, 1)
      const first = yield* pending(endpoint.id)
      expect(first.seconds).toBeGreaterThanOrEqual(2 * HOUR)
      expect(first.seconds).toBeLessThan(3 * HOUR)
      // A shorter schedule applies from the next call on.
      yield* EndpointRepository.use(({ update }) => update(endpoint.id, { retryDelays: [HOUR] }))
      expect((yield* pending(endpoint.id)).seconds).toBe(first.seconds)
      yield* retryNow(first.id)
      const [dead] = yield* deliveries(endpoint.id, ([delivery]) => delivery?.state === "exhausted")
      expect(dead!.made).toMatchObject(Array(2).fill({ status: 429, outcome: "client_error" }))
    }),
  )
})

test("an endpoint that changed is signed for by no secret that ended before the event was published, and loses no event for it", function* () {
  let trusted: Redacted.Redacted
  const accepted = new Set<string>()
  const refused: Array<string> = []
  // The partner returns 401 for every secret except the newest, as soon as the test allows responses.
  const judge: Parameters<typeof startReceiver>[0] = (call) => {
    const isValid = verifies(call, trusted)
    if (isValid) accepted.add(call.eventId)
    else refused.push(call.eventId)
    call.response.writeHead(isValid ? 200 : 401).end()
  }
  const { organization, campaign, id, ...receiver } = yield* startEndpoint(hold)
  yield* whileDelivering(
    Effect.gen(function* () {
      const before = yield* publishTogether(campaign, 20)
      const held = [...(yield* receiver.receives(4))]
      trusted = yield* rotateSecret(organization.id, 0)
      const after = yield* publishSent(campaign, 5)
      receiver.answerBy(judge)
      for (const call of held) judge(call)
      yield* Effect.promise(() => until(receiver, () => accepted.size === 25))
      expect(sorted(accepted)).toEqual(sorted([...before, ...after]))
      expect(refused.filter((eventId) => after.some((each) => each === eventId))).toEqual([])
      yield* deliveries(id, (all) => all.every(({ state }) => state === "delivered"))
    }),
    { perEndpoint: 4 },
  )
})
