import type { sign } from "@outreach/signature"

/** A request as the service sends it. */
export interface SignedWebhook {
  readonly headers: { readonly "content-type": "application/json"; readonly "x-signature": string }
  readonly body: string
}

/** Options for the time of signing. */
export interface SigningTime {
  /** Unix seconds. Default: now. */
  readonly timestamp?: number | undefined
}

/** Signs an event, or a raw body, with Web Crypto or Node. */
export async function signWith(
  signBody: (...given: Parameters<typeof sign>) => string | Promise<string>,
  event: object | string,
  secrets: readonly string[],
  { timestamp = Math.floor(Date.now() / 1000) }: SigningTime = {},
): Promise<SignedWebhook> {
  const body = typeof event === "string" ? event : JSON.stringify(event)
  const signature = await signBody(body, secrets, { timestamp })
  return { headers: { "content-type": "application/json", "x-signature": signature }, body }
}
