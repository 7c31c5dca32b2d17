import { type HandlerOptions, nodeHeaders, readBytes, receiver, type WebhookHandler } from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

/** The parts of `IncomingMessage` that are read, including additions by frameworks. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly readableDidRead: boolean
}

/** The parts of `ServerResponse` that are used. */
export interface NodeResponse {
  writeHead(status: number, headers: { readonly [name: string]: string }): { end(body: string): unknown }
}

/** A handler of Node requests. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/** Creates a Node handler that reports `fix` if the body was already read. */
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
