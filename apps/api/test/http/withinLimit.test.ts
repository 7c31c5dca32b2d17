import { Deferred, Effect } from "effect"
import { expect, it } from "vitest"
import { withinLimit } from "../../src/http/withinLimit.ts"
import { ask } from "../ask.ts"
import { eventText, postWebhook } from "../postWebhook.ts"
import { startApi } from "../startApi.ts"

const api = startApi()

it("returns undefined for an effect that takes longer, and interrupts it", async () => {
  const interrupted = Deferred.makeUnsafe<void>()
  const endless = Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
  expect(await Effect.runPromise(withinLimit(endless, 1))).toBeUndefined()
  await Effect.runPromise(Deferred.await(interrupted))
})

it("returns the envelope for requests that wait for a connection, however many", async () => {
  const seed = await api().seed(1)
  const read = () => ask(api(), "/v1/partners/consumer/tokens/aB3xY9", seed)
  const post = (i: number) => postWebhook(api(), seed, eventText({ event_id: `evt_${i}` }))
  const answers = await api().whileLocked("api_keys", () =>
    api().whileLocked("signing_secrets", () =>
      api().whileLocked("webhook_endpoints", () =>
        Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? read() : post(i)))),
      ),
    ),
  )
  for (const { status, body } of answers) expect([status, body.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"])
})
