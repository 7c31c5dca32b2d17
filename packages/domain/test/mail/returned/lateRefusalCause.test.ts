import { expect, it } from "vitest"
import { lateRefusalCause } from "../../../src/mail/returned/Bounces.ts"

it.each([
  ["policy", { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Blocked" }],
  ["policy", { _tag: "Refused", status: "550" }],
  ["policy", { _tag: "Refused", status: "421 4.7.28" }],
  ["content", { _tag: "Refused", status: "554 5.6.0" }],
  ["content", { _tag: "Refused", status: "552 5.3.4" }],
  ["content", { _tag: "Refused", status: "552 5.2.3" }],
  ["full", { _tag: "Deferred", reply: "552 5.2.2 The address is over its limit" }],
  ["full", { _tag: "Deferred", reply: "552 Mailbox full" }],
  ["full", { _tag: "Deferred", reply: "5.2.2" }],
  ["full", { _tag: "Deferred", reply: "552 5.1.1 Boite du destinataire pleine" }],
  ["expired", { _tag: "Deferred", reply: "451 4.4.1 No answer from host" }],
  ["expired", { _tag: "Deferred" }],
  ["expired", { _tag: "Deferred", reply: "retry timeout exceeded" }],
  ["expired", { _tag: "Deferred", reply: "5.4.7 (delivery time exceeded)" }],
  ["other", { _tag: "Bounced", reason: "other", reply: "554 5.0.0 Transaction failed" }],
] as const)("a message is refused later because of %s by %j", (cause, verdict) => {
  expect(lateRefusalCause(verdict)).toBe(cause)
})
