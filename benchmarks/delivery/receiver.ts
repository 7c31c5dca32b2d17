import { createServer } from "node:http"

// The partner: responds 200 at once, and records each arrival and its latency since publication.

interface Arrivals {
  readonly ids: Set<string>
  readonly latencies: number[]
  /** The number of arrivals after the first of their delivery. */
  repeats: number
}
const none = (): Arrivals => ({ ids: new Set(), latencies: [], repeats: 0 })
let arrivals = none()

const EMITTED = /"emitted_at":"([^"]+)"/

const server = createServer((request, response) => {
  let body = ""
  request.setEncoding("latin1")
  request.on("data", (chunk: string) => {
    body += chunk
  })
  request.on("end", () => {
    const id = request.headers["x-delivery-id"] as string
    if (arrivals.ids.has(id)) arrivals.repeats++
    else {
      arrivals.ids.add(id)
      arrivals.latencies.push(Date.now() - Date.parse(EMITTED.exec(body)![1]!))
    }
    response.end("ok")
  })
})
server.keepAliveTimeout = 60_000

process.on("message", (message) => {
  if (message === "reset") arrivals = none()
  const { ids, latencies, repeats } = arrivals
  process.send!({ count: ids.size, repeats, latencies: message === "latencies" ? latencies : [] })
})
process.on("disconnect", () => process.exit(0))
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as { port: number }).port }))
