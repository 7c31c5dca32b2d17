import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** Starts a partner's receiver for the time of a test. It keeps the requests and responds with a status and a body. */
export const partnerServer = async (status = 200, body = "") => {
  const received: Array<{ readonly headers: IncomingHttpHeaders; readonly body: string }> = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString() })
    response.writeHead(status, { Connection: "close" }).end(body)
  })
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, received }
}
