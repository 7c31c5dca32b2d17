import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** Takes the raw body out of a request, in bytes of its own, so that none changes between the check and the reading. */
export async function rawBody(request: object): Promise<Uint8Array | string> {
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
  throw new WebhookVerificationError("body_already_parsed", ": pass the raw body (express.raw(), rawBody: true)")
}
