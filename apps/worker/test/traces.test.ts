import { createServer } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { partner } from "@outreach/testing/partner"
import { journey } from "./journey.ts"
import { runWorker } from "./runWorker.ts"

const { url, launch, deliveries, query } = journey()

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyArray<Attribute>
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
}

/** A receiver of OTLP over HTTP that keeps what arrives. */
const collector = async () => {
  const kept: Array<{ readonly path: string; readonly body: string }> = []
  const server = createServer(async (request, response) => {
    kept.push({ path: request.url!, body: Buffer.concat(await request.toArray()).toString() })
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}")
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    kept,
    spans: (name: string): ReadonlyArray<Span> =>
      kept
        .filter(({ path }) => path === "/v1/traces")
        .flatMap(({ body }) => JSON.parse(body).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .filter((span) => span.name === name),
  }
}

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

describe("a worker that is told where traces go", () => {
  it("joins an event, its delivery and every attempt", async () => {
    const to = await partner(({ attempt }, response) => response.writeHead(attempt === 1 ? 500 : 200).end())
    const otlp = await collector()
    const { endpoint } = await launch(to, 1)
    const worker = await runWorker(url(), { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, WEBHOOK_RETRY_DELAYS: "1s" })
    const [delivery] = await eventually(
      () => deliveries(endpoint.id),
      ([first]) => first?.state === "delivered",
    )
    await worker.stop()

    const attempts = otlp.spans("attempt delivery")
    const about = {
      "outreach.event.id": delivery!.eventId,
      "outreach.delivery.id": delivery!.id,
      "outreach.endpoint.id": endpoint.id,
    }
    expect(attempts.map(attributesOf)).toEqual([
      {
        ...about,
        "outreach.attempt": expect.anything(),
        "http.response.status_code": 500,
        "outreach.outcome": "server_error",
        "outreach.settlement": "retry",
      },
      {
        ...about,
        "outreach.attempt": expect.anything(),
        "http.response.status_code": 200,
        "outreach.outcome": "success",
        "outreach.settlement": "delivered",
      },
    ])
    const [publication] = otlp.spans("publish events")
    expect(JSON.stringify(publication!.attributes)).toContain(delivery!.eventId)
    const { traceId, spanId } = publication!
    for (const attempt of attempts) expect(attempt.links).toMatchObject([{ traceId, spanId }])
    expect(new Set([traceId, ...attempts.map((attempt) => attempt.traceId)]).size).toBe(3)

    const metrics = otlp.kept.filter(({ path }) => path === "/v1/metrics").map(({ body }) => body)
    expect(metrics.join()).toContain("outreach_delivery_attempts_total")
    const all = otlp.kept.map(({ body }) => body).join()
    expect(all).not.toMatch(/clinic\.test|whsec_|v1=/)
    expect(all).not.toContain(new URL(to.url).host)
  })
})

describe("a worker that is told of no receiver", () => {
  it("keeps no trace with its events", async () => {
    const to = await partner()
    const { organization } = await launch(to, 1)
    await runWorker(url())
    await eventually(
      () => to.received.length,
      (received) => received === 1,
    )
    const rows = await query((sql) => sql`select traceparent from events where organization_id = ${organization.id}`)
    expect(rows).toEqual([{ traceparent: null }])
  })
})
