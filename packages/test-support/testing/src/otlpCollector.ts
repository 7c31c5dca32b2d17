import { createServer } from "node:http"
import { listen } from "./listen.ts"
import { Changes } from "./until.ts"

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
interface Sent<Attributes> {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Attributes
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  /** Code 2 is an error. */
  readonly status: { readonly code: number }
}
/** A received span, with its attributes by name. */
export type ExportedSpan = Sent<Readonly<Record<string, unknown>>> & { readonly service: string }

interface Export {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<Attribute> }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Sent<ReadonlyArray<Attribute>>> }>
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
    spans: (): ReadonlyArray<ExportedSpan> =>
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
