import { type HandlerOptions, nodeHeaders, readBytes, receiver, type WebhookHandler } from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

/** The parts of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, body: unknown, done: (error: null, body: unknown) => void) => void,
  ): unknown
  post(url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown
}

/** The parts of a Fastify request that the plugin reads. */
export interface FastifyRequest {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly body: unknown
}

/** The parts of a Fastify reply that the plugin uses. */
export interface FastifyReply {
  code(status: number): { headers(values: { readonly [name: string]: string }): { send(body: string): unknown } }
}

/** Options of the plugin. */
export interface PluginOptions extends HandlerOptions {
  /** Route path below the plugin's prefix. Default `/`. */
  readonly url?: string | undefined
}

/**
 * Creates a Fastify plugin with one POST route. Only its own scope skips body parsing.
 *
 * The route reads the body itself: otherwise Fastify would reject oversized bodies without calling `onError`.
 */
export function webhookPlugin<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: PluginOptions = {},
): (scope: FastifyScope) => Promise<void> {
  const receive = receiver(verifier, handle, options)
  return async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser("*", (_request, body, done) => done(null, body))
    scope.post(options.url ?? "/", async (request, reply) => {
      const { status, body } = await receive(async (maxBytes) => ({
        headers: request.headers,
        body: await rawBodyOf(request.body, maxBytes),
      }))
      return reply.code(status).headers(nodeHeaders(status)).send(body)
    })
  }
}

async function rawBodyOf(body: unknown, maxBytes: number): Promise<Uint8Array | string> {
  const raw = body ?? ""
  if (raw instanceof Uint8Array || raw === "") return raw
  if (typeof raw === "object" && Symbol.asyncIterator in raw) {
    return readBytes(raw as AsyncIterable<Uint8Array>, maxBytes)
  }
  throw new WebhookVerificationError("body_already_parsed", FIX)
}

const FIX =
  "register the plugin by app.register(), without fastify-plugin, so that no content type parser of others runs"
