import { expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { deliveryAttempts, monotonicMs } from "../../src/deliveries/Deliveries.ts"
import type { Delivery } from "../../src/deliveries/Delivery.ts"
import type { OwnedEndpoint } from "../../src/deliveries/DeliveryLeases.ts"
import { SPECIFIED_SCHEDULE } from "../../src/deliveries/deliverySchedule.ts"
import { Signer, WebhookClient } from "../../src/deliveries/WebhookClient.ts"

const READ_AT = Date.UTC(2026, 10, 1)
const delivery = { body: "{}", attempt: 2 } as Delivery
const endpoint = { retryStatuses: [], disableOnGone: false, standardWebhooks: false } as unknown as OwnedEndpoint

it.effect("an attempt is signed for the second of its call, by the database's clock", () =>
  Effect.gen(function* () {
    const attempt = yield* deliveryAttempts
    const databaseAheadMs = READ_AT - monotonicMs(yield* Clock.Clock)
    yield* TestClock.adjust("90 seconds")
    const options = { endpoint, schedule: SPECIFIED_SCHEDULE, secrets: [] }
    const made = yield* attempt({ ...delivery, databaseAheadMs }, options)
    expect(made.attempt).toMatchObject({ number: 2, startedAt: "2026-11-01T00:01:30.000000Z" })
    expect(made.attempt.response).toBe(`t=${READ_AT / 1000 + 90}`)
  }).pipe(
    Effect.provideService(WebhookClient, {
      post: (_endpoint, headers) => Effect.succeed({ status: 200, response: headers["X-Signature"]! }),
    }),
    Effect.provideService(Signer, { sign: (_body, _secrets, timestamp) => `t=${timestamp}`, signStandard: () => "" }),
  ),
)
