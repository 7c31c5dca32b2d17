import { eventExamples } from "@outreach/contract"
import { expect, it } from "vitest"
import { createWebhookVerifier } from "../src/index.ts"
import { eventSchema } from "../src/schemas.ts"
import { NOW, SECRET, signed } from "./signed.ts"

const verifier = createWebhookVerifier({ secrets: [SECRET], now: () => NOW, schema: eventSchema })
const verify = (event: object) => {
  const body = JSON.stringify(event)
  return verifier.verify({ headers: { "x-signature": signed(body) }, body })
}
const sent = eventExamples["outreach.email_sent"]

it("accepts every event of the contract", async () => {
  for (const example of Object.values(eventExamples)) expect(await verify(example)).toEqual(example)
})
it("rejects data that doesn't match its event type with 500, so that the event is sent again", async () => {
  await expect(verify({ ...sent, data: { ...sent.data, token: "short" } })).rejects.toMatchObject({
    code: "schema_mismatch",
    status: 500,
    issues: [{ path: ["data", "token"] }],
  })
})
it("accepts additions by a newer service: a key, a type, the next version of a type", async () => {
  for (const newer of [
    { ...sent, data: { ...sent.data, reason: "new" } },
    { ...sent, event_type: "outreach.email_read", data: { anything: 1 } },
    { ...sent, event_type: "toString" },
    { ...sent, event_version: 2, data: {} },
  ]) {
    expect(await verify(newer)).toEqual(newer)
  }
})
