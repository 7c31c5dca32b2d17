import { connect, type Socket } from "node:net"
import { makeEvents, type Webhook } from "./receiver/makeEvents.ts"

// Asks over keep-alive connections, each as soon as its last answer is read. It parses no more of HTTP than the length of an
// answer, because its CPU time is taken from the servers.

/** What is asked: paths and queries in turn, or an endpoint that takes signed events, each of them new. */
export type Asked = { readonly targets: readonly string[] } | { readonly webhook: Webhook }

/** What to ask, of whom and for how long. */
export type Load = Asked & {
  readonly ports: readonly number[]
  readonly connections: number
  readonly seconds: number
}

/** What was measured. */
export interface Measured {
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
// Goes on from load to load, so that every key is used as often as any other.
let turn = 0

async function run({ ports, connections, seconds, ...asked }: Load): Promise<Measured> {
  const next = "webhook" in asked ? makeEvents(asked.webhook) : () => get(asked.targets)
  const latencies: number[] = []
  const started = performance.now()
  const ends = started + seconds * 1000
  await Promise.all(
    Array.from({ length: connections }, (_, i) => {
      const port = ports[i % ports.length]!
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      return keepAsking(socket, ends, next, (latency) => latencies.push(latency))
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

function keepAsking(
  socket: Socket,
  ends: number,
  request: () => string,
  answered: (latency: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let asked = 0
    let expected = -1
    let received = 0
    const ask = () => {
      asked = performance.now()
      expected = -1
      received = 0
      socket.write(request(), "latin1")
    }
    socket.on("connect", ask)
    socket.on("error", reject)
    socket.on("data", (chunk) => {
      received += chunk.length
      if (expected < 0) {
        const end = chunk.indexOf("\r\n\r\n")
        const head = chunk.toString("latin1", 0, end)
        const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
        if (end < 0 || !head.startsWith("HTTP/1.1 200 ") || length === undefined) {
          socket.destroy()
          reject(new Error(`an answer that was not expected: ${head.slice(0, 300)}`))
          return
        }
        expected = end + 4 + Number(length)
      }
      if (received < expected) return
      const now = performance.now()
      answered(now - asked)
      if (now < ends) ask()
      else {
        socket.end()
        resolve()
      }
    })
  })
}
