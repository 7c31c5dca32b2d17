import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { onTestFinished } from "vitest"
import { type ClientOptions, createClient } from "../src/createClient.ts"

/** A request that the server received. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** The server's response: `hang` sends none, `reset` closes the connection, `half` ends in the middle of the body. */
export type Reply =
  | "hang"
  | "reset"
  | "half"
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

/**
 * Serves replies over HTTP until the test ends: the listed ones in turn and the last for good, or whatever `reply` makes. Returns also a client of
 * the server, whose waits are over at once.
 */
export async function startServer(
  reply: readonly Reply[] | ((asked: Asked, count: number) => Reply),
  options: Partial<ClientOptions> = {},
) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request
    const count = asked.push({ method, url, headers, body: await text(request) })
    const chosen = typeof reply === "function" ? reply(asked.at(-1)!, count) : reply[Math.min(count, reply.length) - 1]!
    if (chosen === "hang") return
    if (chosen === "reset") return void request.socket.resetAndDestroy()
    if (chosen === "half") {
      response.writeHead(200, { "Content-Length": "1000" }).write('{"object":')
      return void setImmediate(() => request.socket.destroy())
    }
    const { status, body, headers: own } = chosen
    response.writeHead(status, { "X-Request-Id": `req_${count}`, ...own })
    response.end(typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, "close")
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient({ apiKey: "key", baseUrl, sleep: async () => {}, ...options })
  return { baseUrl, asked, client }
}
