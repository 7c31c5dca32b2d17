import { sign } from "@outreach/signature"
import { type SignedWebhook, type SigningTime, signWith } from "./signWith.ts"

export { type SampleOptions, sampleEvent, sampleTypes } from "./sampleEvent.ts"
export type { SignedWebhook, SigningTime } from "./signWith.ts"

/** Signs an event, or a raw body, with each secret, as the service does. */
export function signWebhook(
  event: object | string,
  secrets: readonly string[],
  options?: SigningTime,
): Promise<SignedWebhook> {
  return signWith(sign, event, secrets, options)
}
