import { connect, type Socket } from "node:net"
import { createEventRequests, type Webhook } from "./receiver/createEventRequests.ts"

// Sends requests over keep-alive connections, each as soon as the previous response is read. It parses only the status and the length of a
// response, because it competes with the servers for CPU time.

/** The source of the requests: GETs of these paths in turn, or new signed events to an endpoint. */
export type RequestSource = { readonly targets: readonly string[] } | { readonly webhook: Webhook }

/** The requests to send, the servers, and the duration. */
export type Load = RequestSource & {
  readonly ports: readonly number[]
  readonly connections: number
  readonly seconds: number
}

/** The measured throughput and latencies. */
export interface LoadResult {
  readonly requests: number
  readonly elapsed: number
  readonly p50: number
  readonly p99: number
}

process.on("message", async (message: { keys: readonly string[] } | Load) => {
  if ("keys" in message) keys = message.keys
  else process.send!(await run(message))
})

let keys: readonly string[] = []
// Continues from load to load, so that all keys are used equally often.
let turn = 0

async function run({ ports, connections, seconds, ...source }: Load): Promise<LoadResult> {
  const next = "webhook" in source ? createEventRequests(source.webhook) : () => get(source.targets)
  const latencies: number[] = []
  const started = performance.now()
  const ends = started + seconds * 1000
  await Promise.all(
    Array.from({ length: connections }, (_, i) => {
      const port = ports[i % ports.length]!
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      return sendRequests(socket, ends, next, (latency) => latencies.push(latency))
    }),
  )
  const elapsed = (performance.now() - started) / 1000
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { requests: sorted.length, elapsed, p50: at(0.5), p99: at(0.99) }
}

function get(targets: readonly string[]): string {
  turn++
  return `GET ${targets[turn % targets.length]} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${keys[turn % keys.length]}\r\nAccept: application/json\r\n\r\n`
}

function sendRequests(
  socket: Socket,
  ends: number,
  request: () => string,
  onResponse: (latency: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0
    let expected = -1
    let received = 0
    const send = () => {
      sentAt = performance.now()
      expected = -1
      received = 0
      socket.write(request(), "latin1")
    }
    socket.on("connect", send)
    socket.on("error", reject)
    socket.on("data", (chunk) => {
      received += chunk.length
      if (expected < 0) {
        const end = chunk.indexOf("\r\n\r\n")
        const head = chunk.toString("latin1", 0, end)
        const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
        if (end < 0 || !head.startsWith("HTTP/1.1 200 ") || length === undefined) {
          socket.destroy()
          reject(new Error(`unexpected response: ${head.slice(0, 300)}`))
          return
        }
        expected = end + 4 + Number(length)
      }
      if (received < expected) return
      const now = performance.now()
      onResponse(now - sentAt)
      if (now < ends) send()
      else {
        socket.end()
        resolve()
      }
    })
  })
}
