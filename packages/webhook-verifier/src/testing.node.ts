// The `/testing` entry for Node, because Node 18 has no global `crypto`.
import { sign } from "@outreach/signature/node"
import { type SignedWebhook, type SigningTime, signWith } from "./signWith.ts"

export { sampleEvent, sampleTypes } from "./sampleEvent.ts"

/** Same as `signWebhook` of the main entry. */
export function signWebhook(
  event: object | string,
  secrets: readonly string[],
  options?: SigningTime,
): Promise<SignedWebhook> {
  return signWith(sign, event, secrets, options)
}
