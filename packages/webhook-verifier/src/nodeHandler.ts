import { type HandlerOptions, nodeHeaders, readBytes, receiver, type WebhookHandler } from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

/** The parts of Node's `IncomingMessage` that are read, and what frameworks add to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly readableDidRead: boolean
}

/** The parts of Node's `ServerResponse` that are written. */
export interface NodeResponse {
  writeHead(status: number, headers: { readonly [name: string]: string }): { end(body: string): unknown }
}

/** A handler of Node's requests. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/** Creates a handler of Node's requests that says `fix` when something read the body before it. */
export function nodeHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions,
  fix: string,
): NodeHandler {
  const receive = receiver(verifier, handle, options)
  return async (request, response) => {
    const { status, body } = await receive(async (maxBytes) => ({
      headers: request.headers,
      body: await rawBodyOf(request, maxBytes, fix),
    }))
    response.writeHead(status, nodeHeaders(status)).end(body)
  }
}

async function rawBodyOf(request: NodeRequest, maxBytes: number, fix: string): Promise<Uint8Array | string> {
  const { rawBody } = request as { rawBody?: unknown }
  if (rawBody instanceof Uint8Array || typeof rawBody === "string") return rawBody
  if (!request.readableDidRead) return readBytes(request, maxBytes)
  const { body } = request as { body?: unknown }
  if (body instanceof Uint8Array || typeof body === "string") return body
  throw new WebhookVerificationError("body_already_parsed", fix)
}
