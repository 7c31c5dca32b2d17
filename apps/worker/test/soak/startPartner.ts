import { createHash, randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { verify } from "@outreach/signature/node"

/** A delivery's requests as seen by the receiver. */
export interface Seen {
  readonly eventId: string
  /** Digest of the body, which must not change. */
  readonly digest: string
  /** Number of requests per attempt. */
  readonly requests: Map<number, number>
  /** Whether one of them had a 2xx response. */
  accepted: boolean
}

/** Behavior of partners. All except `fast`, `closing` and `slow` reject some requests; failing ones do until they recover, if ever. */
export type Kind = keyof typeof ANSWERS | "dead"

interface PartnerOptions {
  readonly callMs: number
  /** Called for each request with the time of its event's publication in Unix milliseconds. */
  readonly arrived?: (emittedAt: number) => void
}

type Answer = (response: ServerResponse, options: PartnerOptions) => unknown

const ok: Answer = (response) => response.writeHead(200).end()
const FLAPS_MS = 1500

const ANSWERS = {
  fast: ok,
  /** Like fast, but closes each connection. */
  closing: (response) => response.writeHead(200, { connection: "close" }).end(),
  /** A third of the timeout, such as 5 of 15 s. */
  slow: (response, { callMs }) => setTimeout(() => response.writeHead(200).end(), callMs / 3),
  flapping: (response) => response.writeHead(Math.floor(Date.now() / FLAPS_MS) % 2 === 0 ? 200 : 503).end(),
  rejecting: (response) => response.writeHead(410).end(),
  failing: (response) => response.writeHead(500).end(),
  hanging: () => {},
  /** Within the headers: after complete headers, the status decides regardless of the body. */
  "breaking off": ({ socket }) => socket?.write("HTTP/1.1 200 OK\r\nContent-", () => socket.destroy()),
} satisfies Record<string, Answer>

/** On Linux, a loopback address without other listeners, so that no other server takes the port of a dead partner. */
const ownAddress = (): string =>
  process.platform === "linux" ? `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}` : "127.0.0.1"

/** A partner's local receiver: it verifies requests with its own clock, and records them. */
export const startPartner = async (kind: Kind, options: PartnerOptions) => {
  const open = new Set<ServerResponse>()
  const seen = new Map<string, Seen>()
  const faults: string[] = []
  let answer: Answer = kind === "dead" ? ok : ANSWERS[kind]
  let secret = ""
  const host = kind === "dead" ? ownAddress() : "127.0.0.1"

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const deliveryId = String(request.headers["x-delivery-id"])
    const attempt = Number(request.headers["x-delivery-attempt"])
    try {
      verify(request.headers["x-signature"] as string, body, [secret], { now: Date.now() / 1000 })
    } catch (error) {
      faults.push(`a signature does not verify: ${error}`)
      return response.writeHead(401).end()
    }
    const digest = createHash("sha256").update(body).digest("base64")
    const event = JSON.parse(body.toString()) as { readonly event_id: string; readonly emitted_at: string }
    const delivery = seen.get(deliveryId) ?? {
      eventId: event.event_id,
      digest,
      requests: new Map<number, number>(),
      accepted: false,
    }
    if (delivery.digest !== digest) faults.push(`${deliveryId} came with two bodies`)
    seen.set(deliveryId, delivery)
    options.arrived?.(Date.parse(event.emitted_at))
    open.add(response)
    response.on("close", () => open.delete(response))
    delivery.requests.set(attempt, (delivery.requests.get(attempt) ?? 0) + 1)
    response.on("finish", () => {
      if (response.statusCode === 200) delivery.accepted = true
    })
    return answer(response, options)
  })
  server.listen(0, host)
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  if (kind === "dead") await close()

  return {
    kind,
    url: `http://${host}:${port}/webhooks`,
    seen,
    /** Requests without a response yet. */
    open,
    /** Requests that must not have arrived. */
    faults,
    trust: (given: string) => {
      secret = given
    },
    /** Changes its behavior, including responses to waiting requests. */
    become: async (kind: Exclude<Kind, "dead">) => {
      answer = ANSWERS[kind]
      for (const response of open) if (!response.headersSent) answer(response, options)
      if (!server.listening) {
        server.listen(port, host)
        await once(server, "listening")
      }
    },
    close,
  }
}

export type Partner = Awaited<ReturnType<typeof startPartner>>
