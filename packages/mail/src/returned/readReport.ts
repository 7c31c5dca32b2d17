import type { Email } from "postal-mime"
import { judgeReasons, type Reading, type Reason, type Sureness } from "./judgeReasons.ts"
import { partsOf, readFieldGroups, textOf } from "./parseReturned.ts"
import { isOfSystem } from "./returnedForms.ts"

type Fields = ReadonlyMap<string, string>

/**
 * Reads the fields of a delivery status notification (RFC 3464, RFC 6533) from any part of a message, or returns undefined.
 * It is a bounce if no recipient got the message or can still get it.
 */
export const readReport = (message: Email): Reading | undefined => {
  for (const text of partsOf(message, /^message\/(?:global-)?delivery-status$/i)) {
    const read = judge(recipientsOf(text), "RFC 3464", "certain")
    if (read !== undefined) return read
  }
  if (!isOfSystem(message)) return undefined
  // Some servers write the fields into the text, and some gateways move them there.
  for (const text of [textOf(message), ...partsOf(message, /^text\/plain$/i)]) {
    const recipients = recipientsOf(text).filter(
      (fields) => fields.has("final-recipient") || fields.has("original-recipient"),
    )
    const read = judge(recipients, "RFC 3464 in a text", "likely")
    if (read !== undefined) return read
  }
  return undefined
}

const recipientsOf = (text: string): ReadonlyArray<Fields> =>
  readFieldGroups(text).filter((fields) => fields.has("action") || fields.has("status"))

const judge = (recipients: ReadonlyArray<Fields>, rule: string, formIs: Sureness): Reading | undefined => {
  if (recipients.length === 0) return undefined
  const actions = recipients.map(actionOf)
  if (actions.includes("delivered")) return { kind: "delivered", rule, sureness: formIs }
  if (actions.includes("delayed")) return { kind: "delay", rule, sureness: formIs }
  return { kind: "bounce", rule, ...judgeReasons(recipients.map(reasonOf), formIs) }
}

/** Outcomes by the action words of RFC 3464 and by the class of the status. */
const OUTCOMES = {
  ...{ fail: "failed", delay: "delayed", deliver: "delivered", relay: "delivered", expand: "delivered" },
  ...{ 2: "delivered", 4: "delayed", 5: "failed" },
} as const

const actionOf = (fields: Fields): (typeof OUTCOMES)[keyof typeof OUTCOMES] => {
  if (fields.has("will-retry-until")) return "delayed"
  const { 0: word = fields.get("status")?.charAt(0) ?? "" } =
    /^(fail|delay|deliver|relay|expand)/.exec((fields.get("action") ?? "").toLowerCase()) ?? {}
  return OUTCOMES[word as keyof typeof OUTCOMES] ?? "failed"
}

const reasonOf = (fields: Fields): Reason => {
  const [status] = /[245]\.\d{1,3}\.\d{1,3}/.exec(fields.get("status") ?? "") ?? []
  const text = (fields.get("diagnostic-code") ?? "").replace(/^[\w-]+\s*;\s*/, "")
  return { ...(status !== undefined && { status }), text }
}
