import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeliveryRepository"
import { type EndpointSettings, PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { EndpointId } from "@outreach/domain/Identifier"
import { schedule } from "@outreach/retry-policy"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { listen } from "@outreach/testing/listen"
import { publishSent, publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { deliver } from "../../src/deliveries/deliver.ts"
import { journey, type Services } from "../journey.ts"

const { query, run } = journey()

const HOUR = 3600
const DAY = 24 * HOUR

/** Runs a worker for as long as an effect lasts; its own schedule is one retry after an hour. */
const besideWorker = <A, E>(effect: Effect.Effect<A, E, Services>) =>
  run(
    Effect.raceFirst(
      effect,
      deliver({
        schedule: schedule("1h"),
        drainSeconds: 0,
        maxInFlight: 512,
        perEndpoint: 4,
        callSeconds: 600,
        leaseSeconds: 9,
      }).pipe(
        Effect.provide(Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 600_000 }), NodeSigner)),
      ),
    ),
  )

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end()

/** Starts an endpoint that responds as it is set to, and has settings; returns what it saw of each call. */
const startEndpoint = async (first: Answer, settings: Partial<EndpointSettings>) => {
  const attempts: Array<string> = []
  let answer = first
  const server = createServer((request, response) =>
    request.resume().on("end", () => {
      attempts.push(String(request.headers["x-delivery-attempt"]))
      answer(response, request)
    }),
  )
  const url = PrivateEndpointUrl.make(`http://127.0.0.1:${await listen(server)}/`)
  const { campaign, endpoint, organization } = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
  await run(EndpointRepository.use(({ update }) => update(endpoint.id, settings)))
  return {
    ...{ campaign, attempts, id: endpoint.id, organization },
    answerBy: (next: Answer) => {
      answer = next
    },
  }
}

/** Waits until the deliveries to an endpoint satisfy; returns them. */
const deliveries = (id: EndpointId, satisfies: (found: Effect.Success<ReturnType<typeof deliveriesTo>>) => boolean) =>
  deliveriesTo(id).pipe(Effect.repeat({ until: satisfies, schedule: Schedule.spaced("20 millis") }))

/** Waits until a delivery waits after a number of attempts; returns its id, and how many seconds after the last attempt began it is due. */
const waiting = Effect.fnUntraced(function* (id: EndpointId, attempts: number) {
  const [found] = yield* deliveries(
    id,
    ([delivery]) =>
      delivery?.state === "pending" && delivery.attempts === attempts && delivery.made.length === attempts,
  )
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ seconds: number }>`
    select extract(epoch from due_at - (select max(started_at) from delivery_attempts))::double precision as seconds
    from deliveries where id = ${found!.id}`
  return { id: found!.id, seconds: row!.seconds }
})

const retryNow = (id: Effect.Success<ReturnType<typeof waiting>>["id"]) =>
  DeliveryRepository.use((repository) => repository.retryNow(id))

describe("an endpoint's own retry statuses", () => {
  it("are tried again on the schedule, Retry-After is kept after them alone, and after the last delay they are exhausted", async () => {
    const settings = { retryStatuses: [429, 503], retryDelays: [HOUR, DAY, 2 * DAY, 3 * DAY] }
    const endpoint = await startEndpoint(status(429, { "Retry-After": String(2 * HOUR) }), settings)
    await besideWorker(
      Effect.gen(function* () {
        yield* publishSent(endpoint.campaign, 1)
        const first = yield* waiting(endpoint.id, 1)
        expect(first.seconds).toBeGreaterThanOrEqual(2 * HOUR)
        expect(first.seconds).toBeLessThan(3 * HOUR)
        endpoint.answerBy(status(500, { "Retry-After": String(2 * DAY) }))
        yield* retryNow(first.id)
        const second = yield* waiting(endpoint.id, 2)
        expect(second.seconds).toBeGreaterThanOrEqual(DAY)
        expect(second.seconds).toBeLessThan(2 * DAY)
        endpoint.answerBy(status(503, { "Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT" }))
        for (const attempt of [3, 4]) {
          yield* retryNow(first.id)
          const { seconds } = yield* waiting(endpoint.id, attempt)
          expect(seconds).toBeGreaterThanOrEqual(3 * DAY)
          expect(seconds).toBeLessThan(4 * DAY)
        }
        yield* retryNow(first.id)
        const [dead] = yield* deliveries(endpoint.id, ([delivery]) => delivery?.state === "exhausted")
        expect(dead!.made.map(({ number, status, outcome }) => [number, status, outcome])).toEqual([
          [1, 429, "client_error"],
          [2, 500, "server_error"],
          [3, 503, "server_error"],
          [4, 503, "server_error"],
          [5, 503, "server_error"],
        ])
        expect(endpoint.attempts).toEqual(["1", "2", "3", "4", "5"])
      }),
    )
  })

  it("leave every other 4xx final", async () => {
    const endpoint = await startEndpoint(status(422, { "Retry-After": "1" }), { retryStatuses: [408, 429] })
    await besideWorker(
      Effect.gen(function* () {
        yield* publishSent(endpoint.campaign, 1)
        const [dead] = yield* deliveries(endpoint.id, ([delivery]) => delivery?.state === "rejected")
        expect(dead!.attempts).toBe(1)
      }),
    )
  })
})

describe("settings that change while deliveries wait", () => {
  it("hold from the next call on: a shorter schedule ends at its next failure", async () => {
    const endpoint = await startEndpoint(status(503), { retryDelays: [HOUR, HOUR, HOUR] })
    await besideWorker(
      Effect.gen(function* () {
        yield* publishSent(endpoint.campaign, 1)
        const { update } = yield* EndpointRepository
        const { id, seconds } = yield* waiting(endpoint.id, 1)
        expect(seconds).toBeLessThan(DAY)
        yield* update(endpoint.id, { retryDelays: [HOUR, DAY] })
        expect((yield* waiting(endpoint.id, 1)).seconds).toBe(seconds)
        yield* retryNow(id)
        expect((yield* waiting(endpoint.id, 2)).seconds).toBeGreaterThanOrEqual(DAY)
        yield* update(endpoint.id, { retryDelays: null })
        yield* retryNow(id)
        const [dead] = yield* deliveries(endpoint.id, ([delivery]) => delivery?.state === "exhausted")
        expect(dead!.attempts).toBe(3)
      }),
    )
  })

  it("save a delivery that was rejected by what they were when its call began", async () => {
    const held: Array<ServerResponse> = []
    const endpoint = await startEndpoint((response) => held.push(response), { retryDelays: [HOUR, HOUR] })
    await besideWorker(
      Effect.gen(function* () {
        yield* publishSent(endpoint.campaign, 1)
        yield* Effect.repeat(
          Effect.sync(() => held.length),
          {
            until: (calls) => calls === 1,
            schedule: Schedule.spaced("20 millis"),
          },
        )
        yield* EndpointRepository.use(({ update }) => update(endpoint.id, { retryStatuses: [425] }))
        endpoint.answerBy(status(425))
        held[0]!.writeHead(425).end()
        const { seconds } = yield* waiting(endpoint.id, 2)
        expect(seconds).toBeGreaterThanOrEqual(HOUR)
      }),
    )
  })
})

describe("an endpoint that is disabled by 410", () => {
  const untilDisabled = (id: EndpointId) =>
    EndpointRepository.use(({ find }) =>
      Effect.repeat(find(id), {
        until: ({ enabled, owner }) => !enabled && owner === null,
        schedule: Schedule.spaced("20 millis"),
      }),
    )

  it("loses nothing: all waits, and arrives once it is enabled", async () => {
    const endpoint = await startEndpoint(status(410), { disableOnGone: true })
    await besideWorker(
      Effect.gen(function* () {
        const published = yield* publishTogether(endpoint.campaign, 200)
        const disabled = yield* untilDisabled(endpoint.id)
        expect(disabled).toMatchObject({ disabledReason: "gone", disabledAt: expect.any(String), failures: 0 })
        // Once the calls that were in flight have ended.
        const isPending = ({ state }: { readonly state: string }) => state === "pending"
        expect(yield* deliveries(endpoint.id, (found) => found.every(isPending))).toHaveLength(200)
        const calls = endpoint.attempts.length
        yield* publishSent(endpoint.campaign, 1)
        endpoint.answerBy(status(200))
        yield* EndpointRepository.use(({ enable }) => enable(endpoint.id))
        const arrived = yield* deliveries(
          endpoint.id,
          (found) => found.every(({ state }) => state === "delivered") && found.length === published.length + 1,
        )
        expect(arrived.filter(({ attempts }) => attempts === 2)).toHaveLength(calls)
        expect(yield* EndpointRepository.use(({ find }) => find(endpoint.id))).toMatchObject({
          enabled: true,
          disabledAt: null,
          disabledReason: null,
        })
      }),
    )
  })

  it("has one entry of it in the audit log, however many calls were in flight", async () => {
    const held: Array<ServerResponse> = []
    const endpoint = await startEndpoint((response) => held.push(response), { disableOnGone: true })
    await besideWorker(
      Effect.gen(function* () {
        yield* publishTogether(endpoint.campaign, 10)
        yield* Effect.repeat(
          Effect.sync(() => held.length),
          {
            until: (calls) => calls === 4,
            schedule: Schedule.spaced("20 millis"),
          },
        )
        const [accepted, rejected, ...gone] = held
        for (const response of gone) response.writeHead(410).end()
        yield* EndpointRepository.use(({ find }) =>
          Effect.repeat(find(endpoint.id), { until: ({ enabled }) => !enabled }),
        )
        accepted!.end()
        rejected!.writeHead(404).end()
        const settled = yield* deliveries(
          endpoint.id,
          (found) =>
            found.filter(({ made }) => made.length > 0).length === 4 && found.every(({ state }) => state !== "sending"),
        )
        expect(settled.map(({ state }) => state).toSorted()).toEqual(["delivered", ...Array(9).fill("pending")])
        expect(held).toHaveLength(4)
      }),
    )
    const entries = await query(
      (sql) => sql`
        select arguments, operator, os_user as "osUser", result from audit_log join audit_results on command_id = id
        where command = 'endpoints disable' and ${endpoint.organization.id} = any (organizations)`,
    )
    const given = { endpoint: endpoint.id, reason: "gone" }
    expect(entries).toEqual([{ arguments: given, operator: null, osUser: "the service", result: "succeeded" }])
  })

  it("stays enabled when it has changed since the call began, and what was in flight is sent again", async () => {
    const held: Array<ServerResponse> = []
    const endpoint = await startEndpoint((response) => held.push(response), { disableOnGone: true })
    await besideWorker(
      Effect.gen(function* () {
        yield* publishSent(endpoint.campaign, 1)
        yield* Effect.repeat(
          Effect.sync(() => held.length),
          {
            until: (calls) => calls === 1,
            schedule: Schedule.spaced("20 millis"),
          },
        )
        yield* EndpointRepository.use(({ update }) => update(endpoint.id, { maxInFlight: 2 }))
        endpoint.answerBy(status(200))
        held[0]!.writeHead(410).end()
        const [arrived] = yield* deliveries(endpoint.id, ([delivery]) => delivery?.state === "delivered")
        expect(arrived!.made.map(({ status }) => status)).toEqual([410, 200])
        const found = yield* EndpointRepository.use(({ find }) => find(endpoint.id))
        expect(found).toMatchObject({ enabled: true, disabledReason: null })
      }),
    )
  })

  it("is disabled by the last attempt, too, whose delivery has one more", async () => {
    const endpoint = await startEndpoint(status(503), { disableOnGone: true })
    await besideWorker(
      Effect.gen(function* () {
        yield* publishSent(endpoint.campaign, 1)
        const { id } = yield* waiting(endpoint.id, 1)
        endpoint.answerBy(status(410))
        yield* retryNow(id)
        yield* untilDisabled(endpoint.id)
        endpoint.answerBy(status(200))
        yield* EndpointRepository.use(({ enable }) => enable(endpoint.id))
        const [arrived] = yield* deliveries(endpoint.id, ([delivery]) => delivery?.state === "delivered")
        expect(arrived!.attempts).toBe(3)
      }),
    )
  })
})
