import { assertNow, assertSecrets, readTolerance, SignatureError, type verify } from "@outreach/signature"
import type { EnvelopeMembers } from "./WebhookEvent.ts"
import {
  type SchemaIssue,
  WebhookVerificationError,
  type WebhookVerificationErrorCode,
} from "./WebhookVerificationError.ts"
import type { FoundIssue, VerifyOptions, WebhookVerifier, WebhookVerifierOptions } from "./WebhookVerifier.ts"

/** Matches characters that files, shells and lists add to a secret, and that the service never issues. */
const STORED_BADLY = /^["'\s]|["'\s]$|[,\r\n]/

/** Creates a verifier that computes digests as `verifySignature` does: by Web Crypto, or by Node. */
export function verifierWith<Event>(
  verifySignature: (...given: Parameters<typeof verify>) => unknown,
  options: WebhookVerifierOptions<Event>,
): WebhookVerifier<Event> {
  const { now, schema } = options ?? {}
  let secrets: string[]
  let tolerance: ReturnType<typeof readTolerance>
  try {
    const given: unknown = options?.secrets
    // Copies, so that what was checked is what is used; an environment variable that is not set counts as empty.
    secrets = Array.isArray(given) ? given.map((secret) => secret ?? "") : (given as string[])
    assertSecrets(secrets)
    if (secrets.some((secret) => STORED_BADLY.test(secret))) throw new WebhookVerificationError("malformed_secret")
    tolerance = readTolerance(options.tolerance)
    assertNow(readSeconds(now))
    if (schema && typeof schema["~standard"]?.validate !== "function")
      throw new TypeError("schema must be a Standard Schema")
  } catch (error) {
    throw toVerificationError(error, "invalid_options")
  }

  return {
    async verify(request, given) {
      // What a failure of the step at hand means, when it has no code of its own.
      let code: WebhookVerificationErrorCode = "not_a_request"
      try {
        const header = signatureHeader(request.headers)
        code = "broken_body"
        const body = await rawBody(request)
        code = "invalid_options"
        await verifySignature(header, body, secrets, { now: readSeconds(now, given), tolerance })
        code = "invalid_json"
        const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body)
        const event: unknown = JSON.parse(text)
        if (!isEvent(event)) throw new WebhookVerificationError("not_an_event")
        code = "schema_mismatch"
        const checked = schema ? await schema["~standard"].validate(event) : { value: event as Event }
        if (!checked.issues) return checked.value
        throw new WebhookVerificationError(code, "", { issues: checked.issues.map(toIssue), cause: checked })
      } catch (error) {
        throw toVerificationError(error, code)
      }
    },
  }
}

/** Returns the time in Unix seconds, as the options give it. */
function readSeconds(now: (() => number) | undefined, given?: VerifyOptions): number {
  const at = given?.receivedAt ?? (now ? now() : new Date())
  // In whole seconds, as the signer's clock: with a tolerance of 0 a signature of this second is good.
  return at instanceof Date ? Math.floor(+at / 1000) : at
}

/** Reports whether a value is an event envelope, whatever its type; `data` is not looked into. */
function isEvent(value: unknown): value is EnvelopeMembers {
  const event = value as { readonly [key: string]: unknown } | null
  return (
    event?.["object"] === "event" &&
    typeof event["livemode"] === "boolean" &&
    ["source", "occurred_at", "event_type", "emitted_at", "event_id"].every((key) => typeof event[key] === "string") &&
    /^evt_[0-9a-f]+$/.test(event["event_id"] as string) &&
    (event["event_version"] as number) > 0 &&
    Number.isInteger(event["event_version"]) &&
    // Neither null nor an array.
    Object.prototype.toString.call(event["data"]) === "[object Object]"
  )
}

/** Takes the raw body out of a request, in bytes of its own, so that none changes between the check and the reading. */
async function rawBody(request: object): Promise<Uint8Array | string> {
  const given = request as {
    arrayBuffer?: () => Promise<ArrayBuffer>
    bodyUsed?: unknown
    rawBody?: unknown
    body?: unknown
  }
  const body = given.rawBody ?? (given.arrayBuffer && !given.bodyUsed ? await given.arrayBuffer() : given.body)
  // By shape rather than by instanceof: bytes may come from another realm, as they do inside Jest.
  if (Object(body) !== body) return body as string
  const { buffer = body, byteOffset, byteLength } = body as Partial<Uint8Array>
  if (byteLength !== undefined) return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength).slice()
  throw new WebhookVerificationError(
    "body_already_parsed",
    'pass the raw body (rawBody: true, express.raw({ type: "*/*" }))',
  )
}

/** Finds the signature among headers of any making; empty when there is none, and several of them joined. Throws without headers. */
function signatureHeader(headers: unknown): string {
  const given = headers as Iterable<unknown> & object
  // Name, value, name, value: as Node's rawHeaders are, and pairs once they are flattened.
  const flat = (given[Symbol.iterator] ? [...given] : Object.entries(given)).flat()
  // No request comes without any header, so they were left out, or are a promise; text is the signature alone.
  if (!flat.length || typeof headers === "string") throw new TypeError()
  // Names that differ in case alone are kept together, so that none shadows another.
  return flat.filter((_, i) => i % 2 && /^x-signature$/i.test(flat[i - 1] as string)).join()
}

// An issue may carry the value that it is about, and a segment of its path as well.
function toIssue({ message, path }: FoundIssue): SchemaIssue {
  return { message, path: (path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment)) }
}

// The failure's own words may quote the body, so they go no further, except those about an option; a schema's are the receiver's own.
function toVerificationError(error: unknown, otherwise: WebhookVerificationErrorCode): WebhookVerificationError {
  if (error instanceof WebhookVerificationError) return error
  if (error instanceof SignatureError) return new WebhookVerificationError(error.code)
  return new WebhookVerificationError(
    otherwise,
    otherwise === "invalid_options" ? String((error as Error)?.message) : "",
    otherwise === "schema_mismatch" ? { cause: error } : {},
  )
}
