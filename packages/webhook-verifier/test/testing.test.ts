import { EVENTS } from "@outreach/contract"
import Stripe from "stripe"
import { describe, expect, expectTypeOf, it } from "vitest"
import { createWebhookVerifier } from "../src/index.ts"
import * as node from "../src/testing.node.ts"
import { sampleEvent, sampleTypes, signWebhook } from "../src/testing.ts"
import { SECRET } from "./signed.ts"

const verifier = createWebhookVerifier({ secrets: [SECRET] })

it.each([
  ["Web Crypto", signWebhook],
  ["node:crypto", node.signWebhook],
])("makes a sample of each type that the contract accepts and the verifier verifies, by %s", async (_, sign) => {
  expect([...sampleTypes].sort()).toEqual(Object.keys(EVENTS).sort())
  for (const type of sampleTypes) {
    const event = sampleEvent(type)
    expect(EVENTS[type].envelope.parse(event)).toEqual(event)
    expect(await verifier.verify(await sign(event, [SECRET]))).toEqual(event)
  }
  expectTypeOf(sampleEvent("outreach.email_bounced").data.bounce_reason).toEqualTypeOf<string>()
})
it("makes another event each time, by default", () => {
  expect(sampleEvent("outreach.email_sent").event_id).not.toBe(sampleEvent("outreach.email_sent").event_id)
  const options = { eventId: "evt_1", timestamp: 1_780_000_000 }
  expect(sampleEvent("outreach.email_sent", options)).toMatchObject({
    event_id: "evt_1",
    emitted_at: "2026-05-28T20:26:40.000000Z",
  })
})

const bodies = [
  JSON.stringify(sampleEvent("outreach.email_sent")),
  JSON.stringify({ ...sampleEvent("outreach.email_sent"), metadata: { note: "Zoë — 診 🚀" } }),
]
const { webhooks } = new Stripe("sk_test_unused")

describe("Stripe's library, which has the same scheme,", () => {
  const now = Math.floor(Date.now() / 1000)
  const headerOf = async (body: string, secrets: readonly string[], timestamp = now) =>
    (await signWebhook(body, secrets, { timestamp })).headers["x-signature"]

  it("verifies our header, also during a rotation, under either secret", async () => {
    for (const body of bodies) {
      const header = await headerOf(body, ["old", SECRET])
      for (const secret of ["old", SECRET]) {
        expect(webhooks.constructEvent(body, header, secret)).toEqual(JSON.parse(body))
        expect(webhooks.constructEvent(Buffer.from(body), header, secret)).toEqual(JSON.parse(body))
      }
    }
  })
  it("creates signatures that our verifier accepts", async () => {
    for (const payload of bodies) {
      const header = webhooks.generateTestHeaderString({ payload, secret: SECRET })
      expect(await verifier.verify({ headers: { "x-signature": header }, body: payload })).toEqual(JSON.parse(payload))
    }
  })
})
