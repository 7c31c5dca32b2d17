import { eventExamples } from "@outreach/contract"
import { sign } from "@outreach/signature/node"

export const SECRET = "whsec_4283fefc63f0cd0e873a0000c6d07ef7b77e90d3593ad699"
/** The clock of the tests, in Unix seconds. */
export const NOW = 1_780_000_000
/** An event as it travels. */
export const BODY: string = JSON.stringify(eventExamples["outreach.email_sent"])

/** Signs a body at the tests' clock, or at another time. */
export function signed(
  body: Uint8Array | string = BODY,
  { secrets = [SECRET], timestamp = NOW }: { readonly secrets?: readonly string[]; readonly timestamp?: number } = {},
): string {
  return sign(body, secrets, { timestamp })
}
