import { createServer, type Server } from "node:http"
import { buffer } from "node:stream/consumers"
import { verify } from "@outreach/signature"

/** Receives webhooks: verifies the raw bytes, stores, acknowledges. What `store` keeps is worked on later. */
export function webhookServer(secrets: string[], store: (eventId: string, body: string) => Promise<void>): Server {
  return createServer(async (request, response) => {
    const rawBody = await buffer(request)
    try {
      await verify(request.headers["x-signature"]?.toString(), rawBody, secrets, { now: Date.now() / 1000 })
    } catch {
      return response.writeHead(401).end()
    }
    try {
      const body = rawBody.toString("utf8")
      await store(JSON.parse(body).event_id, body) // insert … on conflict (event_id) do nothing
      return response.writeHead(200).end()
    } catch {
      return response.writeHead(503).end() // not stored, so not acknowledged: it will come again
    }
  })
}
