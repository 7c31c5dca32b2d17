import { describe, expect } from "@effect/vitest"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { verify } from "@outreach/signature/node"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted, Schedule } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { type Call, startReceiver, whileDelivering } from "./receiver.ts"

const { test } = testsOnDatabase()

/** Starts an endpoint with these headers that returns these statuses in turn, then 200. */
const startEndpoint = Effect.fnUntraced(function* (...statuses: ReadonlyArray<number>) {
  const remaining = [...statuses]
  const receiver = yield* Effect.promise(() =>
    startReceiver(({ response }) => response.writeHead(remaining.shift() ?? 200).end()),
  )
  const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: receiver.url })
  yield* EndpointRepository.use(({ update }) => update(seeded.endpoint.id, { standardWebhooks: true }))
  return { ...seeded, ...receiver }
})

type Library = typeof StandardWebhook | typeof SvixWebhook

/** Throws unless the library verifies it. */
const verifyWith = (Webhook: Library, secret: string, { headers, body }: Pick<Call, "headers" | "body">) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

describe("the headers of Standard Webhooks", () => {
  test("are verified by its libraries with either secret of a rotation, under the event's id and the signed time", function* () {
    const { organization, campaign, secret, receives } = yield* startEndpoint()
    const secrets = [secret, yield* rotateSecret(organization.id, 3600)].map(Redacted.value)
    const [eventId] = yield* publishSent(campaign, 1)
    const [call] = yield* whileDelivering(receives(1))
    const { headers, body } = call!
    expect(headers["webhook-signature"]).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
    for (const Webhook of [StandardWebhook, SvixWebhook]) {
      for (const each of secrets) {
        verifyWith(Webhook, each, call!)
        const { timestamp } = verify(headers["x-signature"] as string, body, [each], { now: Date.now() / 1000 })
        expect(headers).toMatchObject({ "webhook-id": eventId, "webhook-timestamp": String(timestamp) })
      }
      expect(() => verifyWith(Webhook, `whsec_${"A".repeat(44)}`, call!)).toThrow("No matching signature found")
    }
  })

  test("have the same id at each attempt and replay of a delivery, with a new signature", function* () {
    const { campaign, endpoint, secret, receives } = yield* startEndpoint(500, 404)
    const [eventId] = yield* publishSent(campaign, 1)
    const calls = yield* whileDelivering(
      Effect.gen(function* () {
        yield* receives(2)
        const [dead] = yield* deliveriesTo(endpoint.id).pipe(
          Effect.repeat({
            until: ([delivery]) => delivery?.state === "rejected",
            schedule: Schedule.spaced("20 millis"),
          }),
        )
        expect(yield* DeliveryRepository.use(({ replay }) => replay(dead!.id))).toBe(true)
        return yield* receives(3)
      }),
      { retryAfter: "0s" },
    )
    expect(calls.map(({ headers }) => [headers["x-delivery-attempt"], headers["webhook-id"]])).toEqual([
      ["1", eventId],
      ["2", eventId],
      ["1", eventId],
    ])
    expect(new Set(calls.map(({ headers }) => headers["x-delivery-id"])).size).toBe(2)
    for (const call of calls) {
      expect(call.headers["x-signature"]).toContain(`t=${call.headers["webhook-timestamp"]},`)
      verifyWith(StandardWebhook, Redacted.value(secret), call)
    }
  })
})
