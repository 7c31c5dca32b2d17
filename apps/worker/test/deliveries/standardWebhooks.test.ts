import { createServer, type IncomingHttpHeaders } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { DeadLetterRepository } from "@outreach/domain/deliveries/DeadLetterRepository"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId } from "@outreach/domain/Identifier"
import { schedule } from "@outreach/retry-policy"
import { verify } from "@outreach/signature/node"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer, Redacted } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { afterEach, vi } from "vitest"
import { deliver } from "../../src/deliveries/deliver.ts"
import { journey, type Services } from "../journey.ts"

const { run } = journey()

interface Call {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Starts a receiver that answers with these statuses in turn, and then with 200. */
const startReceiver = async (...statuses: ReadonlyArray<number>) => {
  const calls: Array<Call> = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    response.statusCode = statuses[calls.length] ?? 200
    calls.push({ headers: request.headers, body })
    response.end()
  })
  return { calls, url: `http://127.0.0.1:${await listen(server)}/` }
}

/** Runs a worker for as long as an effect lasts. */
const besideWorker = <A, E>(effect: Effect.Effect<A, E, Services>) =>
  run(
    Effect.raceFirst(
      effect,
      deliver({
        schedule: schedule("0s,0s"),
        drainSeconds: 5,
        maxInFlight: 16,
        perEndpoint: 16,
        callSeconds: 15,
        leaseSeconds: 9,
      }).pipe(
        Effect.provide(Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 5000 }), NodeSigner)),
      ),
    ),
  )

/** Waits until a number of webhooks have come. */
const received = (calls: ReadonlyArray<Call>, count: number) =>
  Effect.promise(() =>
    eventually(
      () => calls.length,
      (length) => length >= count,
    ),
  )

const ask = (endpointId: EndpointId, standardWebhooks = true) =>
  Effect.flatMap(EndpointRepository, (endpoints) => endpoints.update(endpointId, { standardWebhooks }))

/** Delivers an event to an endpoint that asks for the headers of Standard Webhooks. */
const deliverOne = async () => {
  const { calls, url } = await startReceiver()
  const seeded = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
  const older = Redacted.value(seeded.secret)
  const newer = Redacted.value(await run(rotateSecret(seeded.organization.id, 3600)))
  const [eventId] = await run(Effect.andThen(ask(seeded.endpoint.id), publishSent(seeded.campaign, 1)))
  await besideWorker(received(calls, 1))
  return { ...calls[0]!, eventId, older, newer }
}

const libraries = [
  ["standardwebhooks", StandardWebhook],
  ["svix", SvixWebhook],
] as const

afterEach(() => {
  vi.useRealTimers()
})

describe.each(libraries)("a webhook with the headers of Standard Webhooks, verified by %s", (_, Webhook) => {
  /** Throws unless the library verifies. */
  const verifyWith = (secret: string, { headers, body }: Call) =>
    new Webhook(secret).verify(body, headers as Record<string, string>)

  it("is verified with either secret of a rotation, as the partner has it, and X-Signature beside it", async () => {
    const { eventId, older, newer, ...call } = await deliverOne()
    expect(JSON.parse(call.body.toString()).event_id).toBe(eventId)
    for (const secret of [older, newer]) {
      verifyWith(secret, call)
      const header = call.headers["x-signature"] as string
      const { timestamp } = verify(header, call.body, [secret], { now: Date.now() / 1000 })
      expect(call.headers).toMatchObject({ "webhook-id": eventId, "webhook-timestamp": String(timestamp) })
    }
    expect(call.headers["webhook-signature"]).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
  })

  it("is refused with another body, id, timestamp or secret", async () => {
    const { older, newer, headers, body } = await deliverOne()
    const refuses = (secret: string, changed: Partial<Call>) =>
      expect(() => verifyWith(secret, { headers, body, ...changed })).toThrow("No matching signature found")
    const later = String(Number(headers["webhook-timestamp"]) + 1)
    for (const secret of [older, newer]) {
      refuses(secret, { body: Buffer.from(`${body} `) })
      refuses(secret, { headers: { ...headers, "webhook-id": "evt_0" } })
      refuses(secret, { headers: { ...headers, "webhook-timestamp": later } })
    }
    refuses(`whsec_${"A".repeat(44)}`, {})
  })

  it("is refused when it is more than five minutes old", async () => {
    const { newer, ...call } = await deliverOne()
    const signedAt = Number(call.headers["webhook-timestamp"]) * 1000
    vi.useFakeTimers({ toFake: ["Date"], now: signedAt + 300_000 })
    verifyWith(newer, call)
    vi.setSystemTime(signedAt + 301_000)
    expect(() => verifyWith(newer, call)).toThrow("Message timestamp too old")
  })
})

describe("the headers of Standard Webhooks", () => {
  it("have the same id at each attempt, and are signed afresh", async () => {
    const { calls, url } = await startReceiver(500, 503)
    const { campaign, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
    const [eventId] = await run(Effect.andThen(ask(endpoint.id), publishSent(campaign, 1)))
    await besideWorker(received(calls, 3))
    expect(calls.map(({ headers }) => [headers["x-delivery-attempt"], headers["webhook-id"]])).toEqual([
      ["1", eventId],
      ["2", eventId],
      ["3", eventId],
    ])
    for (const { headers, body } of calls) {
      expect(headers["x-signature"]).toContain(`t=${headers["webhook-timestamp"]},`)
      new StandardWebhook(Redacted.value(secret)).verify(body, headers as Record<string, string>)
    }
  })

  it("have the same id when an operator sends a dead letter again", async () => {
    const { calls, url } = await startReceiver(404)
    const { campaign, endpoint, secret } = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
    const [eventId] = await run(Effect.andThen(ask(endpoint.id), publishSent(campaign, 1)))
    await besideWorker(received(calls, 1))
    const replay = Effect.gen(function* () {
      const [dead] = yield* deliveriesTo(endpoint.id)
      return yield* (yield* DeadLetterRepository).replay(dead!.id)
    })
    expect(await run(replay)).toBe(true)
    await besideWorker(received(calls, 2))
    const [first, again] = calls as [Call, Call]
    expect(again.headers["x-delivery-id"]).not.toBe(first.headers["x-delivery-id"])
    expect(again.headers["webhook-id"]).toBe(eventId)
    new StandardWebhook(Redacted.value(secret)).verify(again.body, again.headers as Record<string, string>)
  })

  it("are not there unless the endpoint asks for them", async () => {
    const { calls, url } = await startReceiver()
    const { campaign, endpoint } = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
    await run(Effect.andThen(ask(endpoint.id), ask(endpoint.id, false)))
    await run(publishSent(campaign, 1))
    await besideWorker(received(calls, 1))
    expect(calls[0]!.headers).toHaveProperty("x-signature")
    expect(Object.keys(calls[0]!.headers).filter((name) => name.startsWith("webhook-"))).toEqual([])
  })

  it("come and go with what a running worker's endpoint asks for", async () => {
    const { calls, url } = await startReceiver()
    const { campaign, endpoint } = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
    /** Publishes until a webhook has the headers, or has them no longer. */
    const publishUntil = (isThere: boolean) =>
      Effect.gen(function* () {
        const count = calls.length
        yield* publishSent(campaign, 1)
        yield* received(calls, count + 1)
        return "webhook-signature" in calls[count]!.headers
      }).pipe(Effect.repeat({ until: (has) => has === isThere }))
    await besideWorker(
      Effect.gen(function* () {
        yield* publishUntil(false)
        yield* ask(endpoint.id)
        yield* publishUntil(true)
        yield* ask(endpoint.id, false)
        yield* publishUntil(false)
      }),
    )
  })
})
