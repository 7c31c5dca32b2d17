import { assertNow, assertSecrets, readTolerance, SignatureError, type verify } from "@outreach/signature"
import type { EnvelopeMembers } from "./WebhookEvent.ts"
import {
  type SchemaIssue,
  WebhookVerificationError,
  type WebhookVerificationErrorCode,
} from "./WebhookVerificationError.ts"
import type { FoundIssue, VerifyOptions, WebhookVerifier, WebhookVerifierOptions } from "./WebhookVerifier.ts"

/** Characters that files, shells and lists add to a secret. The service never issues them. */
const STORED_BADLY = /^["'\s]|["'\s]$|[,\r\n]/

/** Creates a verifier that computes digests with `verifySignature`: Web Crypto or Node. */
export function verifierWith<Event>(
  verifySignature: (...given: Parameters<typeof verify>) => unknown,
  options: WebhookVerifierOptions<Event>,
): WebhookVerifier<Event> {
  const { now, schema } = options ?? {}
  let secrets: string[]
  let tolerance: ReturnType<typeof readTolerance>
  try {
    const given: unknown = options?.secrets
    // Copied, so that later changes have no effect. An unset environment variable counts as empty.
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
      // Code for a failure of the current step that has no own code.
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

/** Returns the current time in Unix seconds. */
function readSeconds(now: (() => number) | undefined, given?: VerifyOptions): number {
  const at = given?.receivedAt ?? (now ? now() : new Date())
  // Whole seconds, like the signer's clock: with a tolerance of 0, a signature of this second is valid.
  return at instanceof Date ? Math.floor(+at / 1000) : at
}

/** Returns whether a value is an event envelope of any type. Doesn't check `data`. */
function isEvent(value: unknown): value is EnvelopeMembers {
  const event = value as { readonly [key: string]: unknown } | null
  return (
    event?.["object"] === "event" &&
    typeof event["livemode"] === "boolean" &&
    ["source", "occurred_at", "event_type", "emitted_at", "event_id"].every((key) => typeof event[key] === "string") &&
    /^evt_[0-9a-f]+$/.test(event["event_id"] as string) &&
    (event["event_version"] as number) > 0 &&
    Number.isInteger(event["event_version"]) &&
    // Excludes null and arrays.
    Object.prototype.toString.call(event["data"]) === "[object Object]"
  )
}

/** Returns a copy of the raw body, so that it can't change between verification and parsing. */
async function rawBody(request: object): Promise<Uint8Array | string> {
  const given = request as {
    arrayBuffer?: () => Promise<ArrayBuffer>
    bodyUsed?: unknown
    rawBody?: unknown
    body?: unknown
  }
  const body = given.rawBody ?? (given.arrayBuffer && !given.bodyUsed ? await given.arrayBuffer() : given.body)
  // Checks the shape instead of instanceof: bytes may come from another realm, as in Jest.
  if (Object(body) !== body) return body as string
  const { buffer = body, byteOffset, byteLength } = body as Partial<Uint8Array>
  if (byteLength !== undefined) return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength).slice()
  throw new WebhookVerificationError(
    "body_already_parsed",
    'pass the raw body (rawBody: true, express.raw({ type: "*/*" }))',
  )
}

/** Finds the signature in headers of any form. Returns an empty string if it is missing, and joins repeated headers. Throws if there are no headers. */
function signatureHeader(headers: unknown): string {
  const given = headers as Iterable<unknown> & object
  // Alternating names and values: Node's rawHeaders, or flattened pairs.
  const flat = (given[Symbol.iterator] ? [...given] : Object.entries(given)).flat()
  // Every request has headers, so an empty object is a mistake (or a promise), and a string is just the signature.
  if (!flat.length || typeof headers === "string") throw new TypeError()
  // Keeps names that differ only in case, so that none hides another.
  return flat.filter((_, i) => i % 2 && /^x-signature$/i.test(flat[i - 1] as string)).join()
}

// An issue may contain the value, and a path segment too.
function toIssue({ message, path }: FoundIssue): SchemaIssue {
  return { message, path: (path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment)) }
}

// Messages of other errors may quote the body, so only messages about options, and the receiver's own schema issues, are passed on.
function toVerificationError(error: unknown, otherwise: WebhookVerificationErrorCode): WebhookVerificationError {
  if (error instanceof WebhookVerificationError) return error
  if (error instanceof SignatureError) return new WebhookVerificationError(error.code)
  return new WebhookVerificationError(
    otherwise,
    otherwise === "invalid_options" ? String((error as Error)?.message) : "",
    otherwise === "schema_mismatch" ? { cause: error } : {},
  )
}
