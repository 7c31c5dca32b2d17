import { createHash, randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { verify } from "@outreach/signature/node"

/** What a delivery's requests were, as its receiver saw them. */
export interface Seen {
  readonly eventId: string
  /** Of the body, which must not change. */
  readonly digest: string
  /** How many requests came for each attempt. */
  readonly requests: Map<number, number>
  /** Whether one of them was answered with 2xx. */
  accepted: boolean
}

/** How partners answer. All but `fast`, `closing` and `slow` refuse something; those that fail do so until they are mended, if they ever are. */
export type Kind = keyof typeof ANSWERS | "dead"

interface PartnerOptions {
  readonly callMs: number
  /** Called at each request with the moment at which its event was published, in Unix milliseconds. */
  readonly arrived?: (emittedAt: number) => void
}

type Answer = (response: ServerResponse, options: PartnerOptions) => unknown

const ok: Answer = (response) => response.writeHead(200).end()
const FLAPS_MS = 1500

const ANSWERS = {
  fast: ok,
  /** As fast, and closes each connection. */
  closing: (response) => response.writeHead(200, { connection: "close" }).end(),
  /** As long as 5 s of 15. */
  slow: (response, { callMs }) => setTimeout(() => response.writeHead(200).end(), callMs / 3),
  flapping: (response) => response.writeHead(Math.floor(Date.now() / FLAPS_MS) % 2 === 0 ? 200 : 503).end(),
  rejecting: (response) => response.writeHead(410).end(),
  failing: (response) => response.writeHead(500).end(),
  hanging: () => {},
  /** Inside the headers: once they are complete, the status decides, whatever becomes of the body. */
  "breaking off": ({ socket }) => socket?.write("HTTP/1.1 200 OK\r\nContent-", () => socket.destroy()),
} satisfies Record<string, Answer>

/** On Linux, an address of this machine that nobody else listens on: a port that a dead partner has closed is then not taken by another server. */
const ownAddress = (): string =>
  process.platform === "linux" ? `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}` : "127.0.0.1"

/** A partner's receiver on this machine: it verifies with its own clock what comes, and remembers it. */
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
    /** The requests that wait for their answer. */
    open,
    /** What must not have come. */
    faults,
    trust: (given: string) => {
      secret = given
    },
    /** Makes it answer as another kind does, also what waits. */
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
