import { createServer } from "node:http"
import { listen } from "./listen.ts"
import { Changes } from "./until.ts"

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: ReadonlyArray<Attribute>
  /** Code 2 is an error. */
  readonly status: { readonly code: number }
}
interface Export {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<Attribute> }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>
  }>
}

/** Starts a receiver of OTLP over HTTP until the end of the test, or until `atEnd` calls back. It stores the received data. */
export const otlpCollector = async (atEnd?: (end: () => Promise<void>) => void) => {
  const changes = new Changes()
  const kept: Array<{ readonly path: string; readonly body: string }> = []
  const server = createServer(async (request, response) => {
    kept.push({ path: request.url!, body: Buffer.concat(await request.toArray()).toString() })
    changes.announce()
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}")
  })
  return {
    url: `http://127.0.0.1:${await listen(server, atEnd)}`,
    changes,
    kept,
    /** Returns the received spans, with their attributes by name. */
    spans: () =>
      kept
        .filter(({ path }) => path === "/v1/traces")
        .flatMap(({ body }) => (JSON.parse(body) as Export).resourceSpans)
        .flatMap(({ resource, scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map((span) => ({
              ...span,
              attributes: byKey(span.attributes),
              service: String(byKey(resource.attributes)["service.name"]),
            })),
          ),
        ),
  }
}

const byKey = (attributes: ReadonlyArray<Attribute>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
