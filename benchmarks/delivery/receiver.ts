import { createServer } from "node:http"

// The partner: responds 200 at once, and records each arrival and its latency since publication.

interface Arrivals {
  readonly ids: Set<string>
  readonly latencies: number[]
}
let arrivals: Arrivals = { ids: new Set(), latencies: [] }

const EMITTED = /"emitted_at":"([^"]+)"/

const server = createServer((request, response) => {
  let body = ""
  request.setEncoding("latin1")
  request.on("data", (chunk: string) => {
    body += chunk
  })
  request.on("end", () => {
    const id = request.headers["x-delivery-id"] as string
    if (!arrivals.ids.has(id)) {
      arrivals.ids.add(id)
      arrivals.latencies.push(Date.now() - Date.parse(EMITTED.exec(body)![1]!))
    }
    response.end("ok")
  })
})
server.keepAliveTimeout = 60_000

process.on("message", (message) => {
  if (message === "reset") arrivals = { ids: new Set(), latencies: [] }
  process.send!({ count: arrivals.ids.size, latencies: message === "latencies" ? arrivals.latencies : [] })
})
process.on("disconnect", () => process.exit(0))
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as { port: number }).port }))
