import { createServer, type ServerResponse } from "node:http"
import { verify } from "@outreach/signature/node"
import { Redacted } from "effect"
import { listen } from "./listen.ts"
import type { AtEnd } from "./startProcess.ts"
import { Changes } from "./until.ts"

/** A received webhook with a verified signature. */
interface Received {
  readonly deliveryId: string
  readonly attempt: number
  readonly event: { readonly event_id: string; readonly event_type: string; readonly data: Record<string, unknown> }
}

/**
 * Starts a partner's receiver until the end of the test, or until `atEnd` calls back. It verifies webhooks with the given secret, stores them, and
 * returns the configured response, by default 200.
 */
export const partner = async (
  answer: (received: Received, response: ServerResponse) => unknown = (_, response) => response.end(),
  atEnd?: AtEnd,
) => {
  const changes = new Changes()
  const received: Received[] = []
  const forged: unknown[] = []
  let secret = ""
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    try {
      verify(request.headers["x-signature"] as string, body, [secret], { now: Date.now() / 1000 })
    } catch (error) {
      forged.push(error)
      changes.announce()
      return response.writeHead(401).end()
    }
    const webhook = {
      deliveryId: String(request.headers["x-delivery-id"]),
      attempt: Number(request.headers["x-delivery-attempt"]),
      event: JSON.parse(body.toString()),
    }
    received.push(webhook)
    answer(webhook, response)
    return changes.announce()
  })
  return {
    url: `http://127.0.0.1:${await listen(server, atEnd)}/webhooks`,
    changes,
    received,
    /** The requests with an invalid signature. */
    forged,
    trust: (given: Redacted.Redacted) => {
      secret = Redacted.value(given)
    },
  }
}
