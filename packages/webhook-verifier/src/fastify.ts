import { ANSWER_HEADERS, type HandlerOptions, readMaxBytes, receive, type WebhookHandler } from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

/** The parts of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    options: { parseAs: "buffer"; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown
  post(url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown
}

/** The parts of a Fastify request that are read. */
export interface FastifyRequest {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly body: unknown
}

/** The parts of a Fastify reply that are written. */
export interface FastifyReply {
  code(status: number): { headers(values: { readonly [name: string]: string }): { send(body: string): unknown } }
}

/** What the plugin can be told. */
export interface PluginOptions extends HandlerOptions {
  /** The route's path, below the plugin's prefix. Default `/`. */
  readonly url?: string | undefined
}

/** Creates a Fastify plugin with one POST route, whose scope leaves bodies unparsed; the parsers of other routes stay as they are. */
export function webhookPlugin<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: PluginOptions = {},
): (scope: FastifyScope) => Promise<void> {
  const bodyLimit = readMaxBytes(options)
  return async (scope) => {
    scope.removeAllContentTypeParsers()
    const reading = { parseAs: "buffer", bodyLimit } as const
    scope.addContentTypeParser("*", reading, (_request, body, done) => done(null, body))
    scope.post(options.url ?? "/", async ({ headers, body }, reply) => {
      const verify = async () => {
        const raw = body ?? ""
        if (raw instanceof Uint8Array || raw === "") return verifier.verify({ headers, body: raw })
        throw new WebhookVerificationError("body_already_parsed", FIX)
      }
      const answer = await receive(verify, handle, options)
      return reply.code(answer.status).headers(ANSWER_HEADERS).send(answer.body)
    })
  }
}

const FIX =
  "register the plugin by app.register(), without fastify-plugin, so that no content type parser of others runs"
