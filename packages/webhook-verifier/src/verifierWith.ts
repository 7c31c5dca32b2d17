import { assertSecrets, SignatureError, type verify } from "@outreach/signature"
import { isEvent } from "./isEvent.ts"
import { rawBody } from "./rawBody.ts"
import { signatureHeader } from "./signatureHeader.ts"
import { WebhookVerificationError, type WebhookVerificationErrorCode } from "./WebhookVerificationError.ts"
import type { WebhookVerifier, WebhookVerifierOptions } from "./WebhookVerifier.ts"

/** Creates a verifier that computes digests as `verifySignature` does: by Web Crypto, or by Node. */
export function verifierWith<Event>(
  verifySignature: (...given: Parameters<typeof verify>) => unknown,
  options: WebhookVerifierOptions<Event>,
): WebhookVerifier<Event> {
  const { tolerance, now, schema } = options ?? {}
  let secrets: string[]
  try {
    // A copy, so that what was checked is what is used; an environment variable that is not set counts as empty.
    secrets = options.secrets.map((secret) => secret ?? "")
    assertSecrets(secrets)
  } catch (error) {
    throw refusal(error, "invalid_options")
  }

  return {
    async verify(request, given) {
      // What a failure of the step at hand means, when it has no code of its own.
      let code: WebhookVerificationErrorCode = "malformed_header"
      try {
        const header = signatureHeader(request.headers)
        code = "broken_body"
        const body = await rawBody(request)
        code = "invalid_options"
        const at = given?.receivedAt ?? now?.() ?? new Date()
        await verifySignature(header, body, secrets, { now: at instanceof Date ? +at / 1000 : at, tolerance })
        code = "invalid_json"
        const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body)
        const event: unknown = JSON.parse(text)
        code = "invalid_options"
        const checked = schema && isEvent(event) ? await schema["~standard"].validate(event) : { value: event as Event }
        if (checked.issues || !isEvent(event)) throw new WebhookVerificationError("not_an_event")
        return checked.value
      } catch (error) {
        throw refusal(error, code)
      }
    },
  }
}

// The failure's own words may quote the body, so they go no further.
function refusal(error: unknown, otherwise: WebhookVerificationErrorCode): WebhookVerificationError {
  if (error instanceof WebhookVerificationError) return error
  return new WebhookVerificationError(error instanceof SignatureError ? error.code : otherwise)
}
