import { sign } from "@outreach/signature/node"
import { Agent, request } from "undici"
import { MAX_IN_FLIGHT, SECRET } from "./Candidate.ts"

const agent = new Agent({ connections: MAX_IN_FLIGHT, headersTimeout: 15_000, bodyTimeout: 15_000 })

/** Posts a signed body, like every candidate except our worker. Returns the status and the start of the response. */
export async function postSigned(url: string, deliveryId: string, attempt: number, body: string) {
  const bytes = Buffer.from(body)
  const started = Date.now()
  const { statusCode, body: response } = await request(url, {
    method: "POST",
    dispatcher: agent,
    headers: {
      "Content-Type": "application/json",
      "X-Signature": sign(bytes, [SECRET], { timestamp: Math.floor(started / 1000) }),
      "X-Delivery-Id": deliveryId,
      "X-Delivery-Attempt": String(attempt),
    },
    body: bytes,
  })
  const text = (await response.text()).slice(0, 4096)
  return { started, latency: Date.now() - started, status: statusCode, response: text }
}
