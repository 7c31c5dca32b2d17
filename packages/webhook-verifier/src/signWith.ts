import type { sign } from "@outreach/signature"

/** A request as the service sends it. */
export interface SignedWebhook {
  readonly headers: { readonly "content-type": "application/json"; readonly "x-signature": string }
  readonly body: string
}

/** When a webhook is signed. */
export interface SigningTime {
  /** In Unix seconds. Default: now. */
  readonly timestamp?: number | undefined
}

/** Signs an event, or a body as it stands, by Web Crypto or by Node. */
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
