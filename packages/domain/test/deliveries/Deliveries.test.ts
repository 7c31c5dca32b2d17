import { expect, it } from "@effect/vitest"
import { Clock, Effect, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { HeaderLines } from "../../src/deliveries/CustomHeaders.ts"
import { deliveryAttempts } from "../../src/deliveries/Deliveries.ts"
import type { Delivery } from "../../src/deliveries/Delivery.ts"
import type { OwnedEndpoint } from "../../src/deliveries/DeliveryLeases.ts"
import { SPECIFIED_SCHEDULE } from "../../src/deliveries/deliverySchedule.ts"
import { Signer, WebhookClient } from "../../src/deliveries/WebhookClient.ts"
import { monotonicMs } from "../../src/monotonicMs.ts"
import { parseInput } from "../../src/textSchema.ts"

const READ_AT = Date.UTC(2026, 10, 1)
const delivery = { id: "dlv_1", eventId: "evt_1", body: "{}", attempt: 2 } as unknown as Delivery
const HEADERS = { "Content-Type": "application/json", "X-Delivery-Id": "dlv_1", "X-Delivery-Attempt": "2" }
const endpoint = { retryStatuses: [], disableOnGone: false, standardWebhooks: false } as unknown as OwnedEndpoint

it.effect(
  "an attempt is signed for the second of its call, by the database's clock, and also for Standard Webhooks if set",
  () =>
    Effect.gen(function* () {
      const attempt = yield* deliveryAttempts
      const databaseAheadMs = READ_AT - monotonicMs(yield* Clock.Clock)
      yield* TestClock.adjust("90 seconds")
      const options = { endpoint, schedule: SPECIFIED_SCHEDULE, secrets: [], headers: null }
      const made = yield* attempt({ ...delivery, databaseAheadMs }, options)
      expect(made.attempt).toMatchObject({ number: 2, startedAt: "2026-11-01T00:01:30.000000Z" })
      const at = READ_AT / 1000 + 90
      expect(JSON.parse(made.attempt.response!)).toEqual({ ...HEADERS, "X-Signature": `t=${at}` })
      const both = yield* attempt(
        { ...delivery, databaseAheadMs },
        { ...options, endpoint: { ...endpoint, standardWebhooks: true } },
      )
      const sent = JSON.parse(both.attempt.response!)
      expect(sent).toEqual({
        ...{ ...HEADERS, "X-Signature": `t=${at}` },
        ...{ "webhook-id": "evt_1", "webhook-timestamp": String(at), "webhook-signature": "v1" },
      })
      // A custom header can't have the name of one of these.
      for (const name of Object.keys(sent)) expect(Result.isFailure(parseInput(HeaderLines)(`${name}: 1`))).toBe(true)
      const headers = Redacted.make({ "X-Api-Key": "k3y", Authorization: "Bearer t0psecret" })
      const custom = yield* attempt({ ...delivery, databaseAheadMs }, { ...options, headers })
      // The response repeats them.
      expect(JSON.parse(custom.attempt.response!)).toEqual({
        ...{ "X-Api-Key": "k3y", Authorization: "Bearer •••" },
        ...{ ...HEADERS, "X-Signature": `t=${at}` },
      })
    }).pipe(
      Effect.provideService(WebhookClient, {
        post: (_endpoint, headers) => Effect.succeed({ status: 200, response: JSON.stringify(headers) }),
      }),
      Effect.provideService(Signer, {
        sign: (_body, _secrets, timestamp) => `t=${timestamp}`,
        signStandard: () => "v1",
      }),
    ),
)
