import { createServer, type IncomingHttpHeaders } from "node:http"
import { listen } from "@outreach/testing/listen"

/** Starts a partner's receiver for the time of a test. It keeps the requests and responds with a status and a body. */
export const partnerServer = async (status = 200, body = "") => {
  const received: Array<{ readonly headers: IncomingHttpHeaders; readonly body: string }> = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString() })
    response.writeHead(status).end(body)
  })
  return { url: `http://127.0.0.1:${await listen(server)}/hooks`, received }
}
