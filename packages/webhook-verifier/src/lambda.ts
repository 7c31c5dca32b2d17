import { type HandlerOptions, RESPONSE_HEADERS, receiver, type WebhookHandler } from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

/** The fields that are read from events of function URLs, API Gateway (both versions) and load balancers. */
export interface LambdaEvent {
  readonly headers?: { readonly [name: string]: string | undefined } | null | undefined
  readonly multiValueHeaders?: { readonly [name: string]: string[] | undefined } | null | undefined
  readonly body?: string | null | undefined
  readonly isBase64Encoded?: boolean | undefined
}

/** A Lambda response. */
export interface LambdaResult {
  statusCode: number
  headers: Record<string, string>
  body: string
  isBase64Encoded: false
}

/** Creates an AWS Lambda handler. Accepts text and base64 bodies. */
export function webhookHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions = {},
): (event: LambdaEvent) => Promise<LambdaResult> {
  const receive = receiver(verifier, handle, options)
  return async ({ headers, multiValueHeaders, body: given, isBase64Encoded }) => {
    const { status, body } = await receive(() => ({
      headers: headers ?? multiValueHeaders ?? {},
      body: rawBodyOf(given ?? "", isBase64Encoded),
    }))
    return { statusCode: status, headers: { ...RESPONSE_HEADERS }, body, isBase64Encoded: false }
  }
}

function rawBodyOf(body: unknown, isBase64Encoded: boolean | undefined): Uint8Array {
  if (typeof body !== "string") throw new WebhookVerificationError("body_already_parsed", FIX)
  if (!isBase64Encoded) return new TextEncoder().encode(body)
  try {
    return Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
  } catch {
    throw new WebhookVerificationError("malformed_body")
  }
}

const FIX = "leave the body parser off this function (middy: httpJsonBodyParser)"
