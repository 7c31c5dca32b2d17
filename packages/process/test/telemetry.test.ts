import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { ConfigProvider, Effect, Exit, Tracer } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { RELEASE } from "../src/release.ts"
import { isChosen } from "../src/samplingTracer.ts"
import { telemetry } from "../src/telemetry.ts"

/** Runs an effect with telemetry that goes to a receiver, and returns all that arrived there. */
const exportedBy = async (work: Effect.Effect<unknown>, ratio = "1"): Promise<string> => {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    bodies.push(`${request.url} ${Buffer.concat(await request.toArray())}`)
    response.end("{}")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    OTEL_TRACES_SAMPLER_ARG: ratio,
    LOG_LEVEL: "none",
  }
  await work.pipe(
    Effect.provide(telemetry("test")),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.runPromise,
  )
  return bodies.join("\n")
}

/** Returns the names of the spans that an effect exports, in the order of their ends. */
const namesOf = async (work: Effect.Effect<unknown>, ratio?: string): Promise<ReadonlyArray<string>> =>
  [
    ...(await exportedBy(work, ratio)).matchAll(
      /"parentSpanId":"\w+","name":"([^"]+)"|"spanId":"\w+","name":"([^"]+)"/g,
    ),
  ].map(([, child, root]) => child ?? root!)

const ROOT = { root: true }
const ended = (name: string, options: Tracer.SpanOptions, tookMs: bigint) =>
  Effect.map(Effect.makeSpan(name, options), (span) => span.end(span.status.startTime + tookMs * 1_000_000n, Exit.void))
const failing = (name: string) => Effect.exit(Effect.withSpan(Effect.die(new Error("broken")), name))

describe("telemetry", () => {
  it("exports that a span failed, and where, without the error's own words", async () => {
    const cause = new Error("Key (email)=(dana@clinic.test) already exists")
    // @effect-diagnostics-next-line globalErrorInEffectFailure:off
    const failing = Effect.fail(new TypeError("cannot mail dana@clinic.test", { cause })).pipe(
      Effect.withSpan("mail"),
      Effect.exit,
    )
    const all = await exportedBy(failing, "0")
    expect(all).toMatch(/^\/v1\/traces .*"name":"mail"/m)
    expect(all).toMatch(/"exception.stacktrace".*TypeError.*telemetry\.test\.ts/)
    expect(all).toContain('"status":{"code":2')
    expect(all).not.toContain("dana")
  })

  it("names the release", async () => {
    const all = await exportedBy(Effect.void.pipe(Effect.withSpan("rest", ROOT)))
    expect(all).toContain(`{"key":"service.version","value":{"stringValue":"${RELEASE}"}}`)
    expect(all).toContain('{"key":"vcs.ref.head.revision","value":{"stringValue":"unknown"}}')
  })

  it("exports a successful span unchanged", async () => {
    const all = await exportedBy(Effect.void.pipe(Effect.withSpan("rest", { ...ROOT, attributes: { count: 3 } })))
    expect(all).toMatch(/"name":"rest".*"count".*"status":\{"code":1/)
  })

  it("exports all spans of a sampled trace and no span of an unsampled one", async () => {
    const trace = Effect.void.pipe(Effect.withSpan("inner"), Effect.withSpan("outer", ROOT))
    expect(await namesOf(trace, "1")).toEqual(["inner", "outer"])
    expect(await namesOf(trace, "0")).toEqual([])
  })

  it("exports only failed spans and their ancestors from an unsampled trace", async () => {
    const trace = Effect.void.pipe(
      Effect.withSpan("beside"),
      Effect.andThen(failing("failed")),
      Effect.withSpan("around"),
      Effect.andThen(Effect.void.pipe(Effect.withSpan("after"))),
      Effect.withSpan("outer", ROOT),
    )
    expect(await namesOf(trace, "0")).toEqual(["failed", "around", "outer"])
  })

  it("exports spans of at least a second, even if they are not sampled", async () => {
    const both = Effect.andThen(ended("slow", ROOT, 1000n), ended("quick", ROOT, 999n))
    expect(await namesOf(both, "0")).toEqual(["slow"])
  })

  it("exports a successful span with an error type as an error", async () => {
    const answered = Effect.useSpan("answered", ROOT, (span) => Effect.sync(() => span.attribute("error.type", "503")))
    expect(await exportedBy(answered, "0")).toMatch(/"name":"answered".*"status":\{"code":2,"message":"503"\}/)
  })

  it("does not take a refusal that ends a transaction for a failure", async () => {
    const refused = (error: object) => Effect.exit(Effect.withSpan(Effect.fail(error), "sql.transaction"))
    expect(await namesOf(refused({ _tag: "NotFound" }), "0")).toEqual([])
    const rejected = refused({ _tag: "SqlError", reason: { cause: { code: "55P03" } } })
    expect(await namesOf(rejected, "0")).toEqual(["sql.transaction"])
    expect(await exportedBy(rejected, "0")).toContain('"key":"db.response.status_code","value":{"stringValue":"55P03"}')
  })

  it("starts a trace for events published in a transaction, but not for a statement", async () => {
    const statement = (text: string, attributes = { "db.query.text": text }) =>
      Effect.withSpan("database", { kind: "client", attributes })
    const poll = Effect.void.pipe(statement("select 1"), Effect.withSpan("sql.transaction"))
    expect(await namesOf(poll)).toEqual([])
    const publishing = Effect.void.pipe(
      statement("insert into events (id) values ($1)"),
      Effect.withSpan("publish events", { kind: "producer" }),
      Effect.withSpan("sql.transaction"),
    )
    expect(await namesOf(publishing)).toEqual(["insert into events", "publish events"])
    expect(await exportedBy(publishing)).not.toMatch(/"parentSpanId":"\w+","name":"publish events"/)
  })

  it("samples external requests by trace id, regardless of the sender's decision", async () => {
    const from = (traceId: string, sampled: boolean) =>
      Effect.withSpan(Effect.void, "GET", {
        kind: "server",
        parent: Tracer.externalSpan({ traceId, spanId: "00f067aa0ba902b7", sampled }),
      })
    expect(await namesOf(from("f".repeat(32), true), "0.05")).toEqual(["GET"])
    expect(await namesOf(from("f".repeat(32), false), "0.05")).toEqual([])
    expect(await namesOf(from(`${"f".repeat(18)}${"0".repeat(14)}`, true), "0.05")).toEqual([])
  })

  it("exports at most a thousand spans per second, and counts the dropped ones", async () => {
    const at = 1_700_000_000_000_000_000n
    const many = Effect.forEach(Array(1200), () =>
      Effect.map(Effect.makeSpan("failed", ROOT), (span) => span.end(at, Exit.die(new Error("broken")))),
    )
    const all = await exportedBy(many, "0")
    expect(all.match(/"name":"failed"/g)).toHaveLength(1000)
    expect(all).toMatch(/"outreach_spans_dropped_total".*"asDouble":200|"outreach_spans_dropped_total".*"asInt":"?200/)
  })
})

describe("isChosen", () => {
  // Evenly spread.
  const traceIds = Array.from({ length: 1024 }, (_, i) => (i * 2 ** 46).toString(16).padStart(32, "0"))

  it.each([0, 0.05, 0.25, 1])("chooses the share %d of all traces", (ratio) => {
    expect(traceIds.filter((id) => isChosen(id, ratio)).length).toBe(Math.floor(1024 * ratio))
  })

  it("chooses of a smaller share none that it does not choose of a greater one", () => {
    for (const id of traceIds) if (isChosen(id, 0.05)) expect(isChosen(id, 0.5)).toBe(true)
  })
})
