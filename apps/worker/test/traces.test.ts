import { describe, expect, it } from "@effect/vitest"
import { mailServer } from "@outreach/testing/mailServer"
import { otlpCollector } from "@outreach/testing/otlpCollector"
import { partner } from "@outreach/testing/partner"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { until } from "@outreach/testing/until"
import { journey } from "./journey.ts"
import { runObservedWorker } from "./runObservedWorker.ts"

const { url, launch, deliveries } = journey()
const idle = migratedDatabase()

/** Runs a worker that exports all traces. */
const traced = async (settings: Record<string, string> = {}, database = url()) => {
  const otlp = await otlpCollector()
  const observed = await runObservedWorker(database, {
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    OTEL_TRACES_SAMPLER_ARG: "1",
    ...{ WEBHOOK_RETRY_DELAYS: "1ms", DRAIN_SECONDS: "20" },
    ...settings,
  })
  const named = (name: string) => otlp.spans().filter((span) => span.name === name)
  return { ...observed, otlp, named }
}

describe("a worker that exports traces", () => {
  it("puts a publication and every call for it into one trace, and shows each e-mail", async () => {
    const to = await partner(({ attempt, event }, response) =>
      response.writeHead(attempt === 1 && event.event_type === "outreach.recipients_published" ? 500 : 200).end(),
    )
    const mail = await mailServer()
    const { endpoint, campaign } = await launch(to, 2)
    const { stop, otlp, named } = await traced({ SMTP_URL: mail.url })
    await until(to, ({ received }) => received.length === 4)
    await stop()
    const delivery = (await deliveries(endpoint.id)).find(({ made }) => made.length === 2)!

    const about = {
      "outreach.event.id": delivery.eventId,
      "outreach.delivery.id": delivery.id,
      "outreach.endpoint.id": endpoint.id,
    }
    const attempts = named("deliver webhook").filter(
      ({ attributes }) => attributes["outreach.event.id"] === delivery.eventId,
    )
    expect(attempts.map(({ attributes }) => attributes)).toEqual([
      {
        ...about,
        "outreach.attempt": expect.anything(),
        "http.response.status_code": 500,
        "error.type": "server_error",
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
    expect(attempts.map(({ status }) => status.code)).toEqual([2, 1])
    const { traceId, spanId } = named("publish events").find(({ attributes }) =>
      JSON.stringify(attributes).includes(delivery.eventId),
    )!
    expect(attempts.map(({ traceId, parentSpanId }) => ({ traceId, parentSpanId }))).toEqual([
      { traceId, parentSpanId: spanId },
      { traceId, parentSpanId: spanId },
    ])
    expect(named("insert into events").some(({ parentSpanId }) => parentSpanId === spanId)).toBe(true)

    const sent = named("send e-mail").filter(({ attributes }) => attributes["outreach.campaign.id"] === campaign.id)
    expect(sent.map(({ attributes }) => attributes["outreach.outcome"])).toEqual(["accepted", "accepted"])
    const metrics = otlp.kept.filter(({ path }) => path === "/v1/metrics").map(({ body }) => body)
    expect(metrics.join()).toContain("outreach_delivery_attempts_total")
  })

  it("exports no span for polls without results", async () => {
    const { stop, metric, otlp } = await traced({}, idle())
    await metric("outreach_delivery_claims_total", ({ succeeded }) => succeeded! >= 2)
    await metric("outreach_reading_up", ({ due, state }) => due === 1 && state === 1)
    await stop()
    expect(otlp.kept.some(({ path }) => path === "/v1/metrics")).toBe(true)
    // On a busy machine, a statement can fail, for example while waiting for a lock.
    expect(otlp.spans().filter((span) => span.status.code !== 2 && !isSlow(span))).toEqual([])
  })
})

/** Returns whether a span is slow enough to be exported. */
const isSlow = (span: { readonly startTimeUnixNano: string; readonly endTimeUnixNano: string }) =>
  BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano) >= 1_000_000_000n
