// The same entry for Node, because Node 18 has no global `crypto`.
import { sign } from "@outreach/signature/node"
import { type SignedWebhook, type SigningTime, signWith } from "./signWith.ts"

export { sampleEvent, sampleTypes } from "./sampleEvent.ts"

/** Signs an event as the main entry's `signWebhook` does. */
export function signWebhook(
  event: object | string,
  secrets: readonly string[],
  options?: SigningTime,
): Promise<SignedWebhook> {
  return signWith(sign, event, secrets, options)
}
