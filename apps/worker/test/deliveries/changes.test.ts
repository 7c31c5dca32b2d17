import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { type EndpointStatus, PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId } from "@outreach/domain/Identifier"
import { schedule } from "@outreach/retry-policy"
import { verify } from "@outreach/signature/node"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { publishSent, publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer, Redacted } from "effect"
import { deliver } from "../../src/deliveries/deliver.ts"
import { journey, type Services } from "../journey.ts"

const { run } = journey()

/** The most calls in flight to one endpoint. */
const PER_ENDPOINT = 16

interface Call {
  readonly eventId: string
  readonly header: string
  readonly body: Buffer
}

type Answer = (call: Call, response: ServerResponse) => unknown

const toCall = async (request: IncomingMessage): Promise<Call> => {
  const body = Buffer.concat(await request.toArray())
  return { eventId: JSON.parse(body.toString()).event_id, header: String(request.headers["x-signature"]), body }
}

/** Starts a receiver that answers as it is told now; returns what came. */
const startReceiver = async (first: Answer) => {
  const calls: Array<Call> = []
  let answer = first
  const server = createServer(async (request, response) => {
    const call = await toCall(request)
    calls.push(call)
    answer(call, response)
  })
  return {
    calls,
    url: PrivateEndpointUrl.make(`http://127.0.0.1:${await listen(server)}/`),
    answerBy: (next: Answer) => {
      answer = next
    },
  }
}

const accept: Answer = (_, response) => response.end()
const fail: Answer = (_, response) => response.writeHead(500).end()
const hang: Answer = () => undefined

/** Holds what comes until a number of calls are in flight at once, and accepts everything from then on. */
const acceptTogether = (count: number): Answer => {
  const held: Array<ServerResponse> = []
  return (_, response) => {
    held.push(response)
    if (held.length >= count) for (const each of held.splice(0, held.length)) each.end()
    if (count > 0 && held.length === 0) count = 0
  }
}

/** Runs a worker for as long as an effect lasts. What failed once is not due again meanwhile, and no call times out. */
const besideWorker = <A, E>(effect: Effect.Effect<A, E, Services>) =>
  run(
    Effect.raceFirst(
      effect,
      deliver({
        schedule: schedule("1h,1h"),
        drainSeconds: 0,
        maxInFlight: 512,
        perEndpoint: PER_ENDPOINT,
        callSeconds: 15,
        leaseSeconds: 45,
      }).pipe(
        Effect.provide(Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 600_000 }), NodeSigner)),
      ),
    ),
  )

const until = <A>(read: () => A, satisfies: (value: A) => boolean) => Effect.promise(() => eventually(read, satisfies))
const count = (calls: ReadonlyArray<Call>, expected: number) =>
  until(
    () => new Set(calls.map(({ eventId }) => eventId)).size,
    (size) => size >= expected,
  )
const untilStatus = Effect.fnUntraced(function* (id: EndpointId, satisfies: (status: EndpointStatus) => boolean) {
  const { find } = yield* EndpointRepository
  yield* Effect.repeat(find(id), { until: satisfies })
})
const sorted = (ids: Iterable<string>) => [...ids].sort()
const eventIds = (calls: ReadonlyArray<Call>) => calls.map(({ eventId }) => eventId)

describe("a new address", () => {
  it("gets all that is not in flight, while every call to the old one hangs", async () => {
    const [left, next] = [await startReceiver(hang), await startReceiver(accept)]
    const { campaign, endpoint } = await run(seedCampaign({ recipients: 0, endpointUrl: left.url }))
    await besideWorker(
      Effect.gen(function* () {
        const { update } = yield* EndpointRepository
        const published = yield* publishTogether(campaign, 101)
        yield* count(left.calls, PER_ENDPOINT)
        yield* update(endpoint.id, { url: next.url })
        yield* count(next.calls, 101 - PER_ENDPOINT)
        expect(left.calls).toHaveLength(PER_ENDPOINT)
        expect(sorted(eventIds([...left.calls, ...next.calls]))).toEqual(sorted(published))
      }),
    )
  })

  it("begins with a closed breaker", async () => {
    const [left, next] = [await startReceiver(fail), await startReceiver(acceptTogether(PER_ENDPOINT))]
    const { campaign, endpoint } = await run(seedCampaign({ recipients: 0, endpointUrl: left.url }))
    await besideWorker(
      Effect.gen(function* () {
        const { update } = yield* EndpointRepository
        const published = yield* publishTogether(campaign, 121)
        yield* untilStatus(endpoint.id, ({ breaker, failures }) => breaker === "open" && failures > 5)
        yield* update(endpoint.id, { url: next.url })
        yield* until(
          () => new Set(eventIds([...left.calls, ...next.calls])).size,
          (size) => size === published.length,
        )
        yield* untilStatus(endpoint.id, ({ breaker }) => breaker === "closed")
      }),
    )
  })
})

describe("an endpoint that was disabled and enabled again", () => {
  it.each([
    ["at once", () => Effect.void],
    ["later", (id: EndpointId) => untilStatus(id, ({ owner }) => owner === null)],
  ])("%s begins with a closed breaker", async (_, pause) => {
    const receiver = await startReceiver(fail)
    const { campaign, endpoint } = await run(seedCampaign({ recipients: 0, endpointUrl: receiver.url }))
    await besideWorker(
      Effect.gen(function* () {
        const { disable, enable } = yield* EndpointRepository
        const published = yield* publishTogether(campaign, 121)
        yield* untilStatus(endpoint.id, ({ breaker, failures }) => breaker === "open" && failures > 5)
        yield* disable(endpoint.id)
        yield* pause(endpoint.id)
        receiver.answerBy(acceptTogether(PER_ENDPOINT))
        yield* enable(endpoint.id)
        yield* count(receiver.calls, published.length)
      }),
    )
  })
})

describe("new types", () => {
  it("hold for what is published from then on, while calls hang", async () => {
    const held: Array<ServerResponse> = []
    const receiver = await startReceiver((_, response) => held.push(response))
    const { campaign, endpoint } = await run(seedCampaign({ recipients: 0, endpointUrl: receiver.url }))
    await besideWorker(
      Effect.gen(function* () {
        const before = yield* publishTogether(campaign, 100)
        yield* count(receiver.calls, PER_ENDPOINT)
        yield* updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_bounced"] }, { allowPrivate: true })
        yield* publishTogether(campaign, 20)
        yield* updateEndpoint(endpoint.id, { eventTypes: null }, { allowPrivate: true })
        const after = yield* publishTogether(campaign, 20)
        receiver.answerBy(accept)
        for (const response of held) response.end()
        yield* count(receiver.calls, 120)
        expect(sorted(eventIds(receiver.calls))).toEqual(sorted([...before, ...after]))
      }),
    )
  })
})

describe("a secret that was ended", () => {
  /** Answers 401 to what none of the current secrets alone verifies, as a partner does. */
  const startVerifier = async () => {
    let current: ReadonlyArray<string> = []
    const refused: Array<string> = []
    const accepted: Array<string> = []
    const held: Array<ServerResponse> = []
    let isHolding = true
    const receiver = await startReceiver(({ body, header, eventId }, response) => {
      try {
        verify(header, body, current, { now: Date.now() / 1000 })
        accepted.push(eventId)
      } catch {
        refused.push(eventId)
        response.statusCode = 401
      }
      if (isHolding) held.push(response)
      else response.end()
    })
    return {
      ...{ ...receiver, accepted, refused },
      trust: (...secrets: ReadonlyArray<Redacted.Redacted>) => {
        current = secrets.map(Redacted.value)
      },
      /** Answers nothing until `release`. */
      hold: () => {
        isHolding = true
      },
      release: () => {
        isHolding = false
        for (const response of held.splice(0)) response.end()
      },
    }
  }

  it.each([
    ["rotated without grace", (id: Parameters<typeof rotateSecret>[0]) => rotateSecret(id, 0)],
    [
      "revoked",
      Effect.fnUntraced(function* (id: Parameters<typeof rotateSecret>[0]) {
        const { list, revoke } = yield* SigningSecretRepository
        const next = yield* rotateSecret(id, 3600)
        const [, old] = yield* list({ organizationId: id })
        yield* revoke(old!.id)
        return next
      }),
    ],
  ])("signs nothing that is read or sent after the change, and costs no event: %s", async (_, end) => {
    const receiver = await startVerifier()
    const seeded = await run(seedCampaign({ recipients: 0, endpointUrl: receiver.url }))
    const { organization, campaign, endpoint, secret } = seeded
    receiver.trust(secret)
    await besideWorker(
      Effect.gen(function* () {
        const published: Array<string> = []
        for (let round = 1; round <= 4; round++) {
          receiver.hold()
          const before = receiver.calls.length
          const waiting = yield* publishTogether(campaign, 60)
          yield* until(
            () => receiver.calls.length,
            (calls) => calls >= before + PER_ENDPOINT,
          )
          receiver.trust(yield* end(organization.id))
          // They are read after the change, and called before what waited.
          const after = yield* publishSent(campaign, 5)
          receiver.release()
          published.push(...waiting, ...after)
          yield* until(
            () => new Set(receiver.accepted).size,
            (size) => size === published.length,
          )
          expect(receiver.refused.filter((eventId) => after.includes(eventId as (typeof after)[number]))).toEqual([])
        }
        expect(sorted(receiver.accepted)).toEqual(sorted(published))
      }),
    )
    const isDead = ({ state }: { readonly state: string }) => DEAD_LETTER_REASONS.some((reason) => reason === state)
    expect((await run(deliveriesTo(endpoint.id))).filter(isDead)).toEqual([])
  })
})
