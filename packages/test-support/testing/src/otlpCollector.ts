import { createServer } from "node:http"
import { OtlpResource, type OtlpTracer } from "effect/observability"
import { listen } from "./listen.ts"
import type { AtEnd } from "./startProcess.ts"
import { Changes } from "./until.ts"

/** Starts a receiver of OTLP over HTTP until the end of the test, or until `atEnd` calls back. It stores the received data. */
export const otlpCollector = async (atEnd?: AtEnd) => {
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
        .flatMap(({ body }) => (JSON.parse(body) as OtlpTracer.TraceData).resourceSpans)
        .flatMap(({ resource, scopeSpans }) =>
          scopeSpans
            .flatMap(({ spans }) => spans)
            .map((span) => ({
              ...span,
              attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
              service: OtlpResource.serviceNameUnsafe(resource),
            })),
        ),
  }
}
