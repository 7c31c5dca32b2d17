import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { ConfigProvider, Effect } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { RELEASE } from "../src/release.ts"
import { telemetry } from "../src/telemetry.ts"

/** Runs an effect with telemetry that goes to a receiver, and returns all that arrived there. */
const exportedBy = async (work: Effect.Effect<unknown>): Promise<string> => {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    bodies.push(`${request.url} ${Buffer.concat(await request.toArray())}`)
    response.end("{}")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    LOG_LEVEL: "none",
  }
  await work.pipe(
    Effect.provide(telemetry("test")),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.runPromise,
  )
  return bodies.join("\n")
}

describe("telemetry", () => {
  it("exports that a span failed, and where, without the error's own words", async () => {
    const cause = new Error("Key (email)=(dana@clinic.test) already exists")
    // @effect-diagnostics-next-line globalErrorInEffectFailure:off
    const failing = Effect.fail(new TypeError("cannot mail dana@clinic.test", { cause })).pipe(
      Effect.withSpan("mail"),
      Effect.exit,
    )
    const all = await exportedBy(failing)
    expect(all).toMatch(/^\/v1\/traces .*"name":"mail"/m)
    expect(all).toMatch(/"exception.stacktrace".*TypeError.*telemetry\.test\.ts/)
    expect(all).toContain('"status":{"code":2')
    expect(all).not.toContain("dana")
  })

  it("names the release", async () => {
    const all = await exportedBy(Effect.void.pipe(Effect.withSpan("rest")))
    expect(all).toContain(`{"key":"service.version","value":{"stringValue":"${RELEASE}"}}`)
    expect(all).toContain('{"key":"vcs.ref.head.revision","value":{"stringValue":"unknown"}}')
  })

  it("exports what succeeded as it is", async () => {
    const all = await exportedBy(Effect.void.pipe(Effect.withSpan("rest", { attributes: { count: 3 } })))
    expect(all).toMatch(/"name":"rest".*"count".*"status":\{"code":1/)
  })
})
