import { once } from "node:events"
import { readFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { createServer as createTcpServer } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { whileOpen } from "@outreach/testing/inTransaction"
import { listen } from "@outreach/testing/listen"
import { partner } from "@outreach/testing/partner"
import { TEST_ROLES } from "@outreach/testing/testRoles"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { journey } from "../journey.ts"
import { runObservedWorker, samples } from "../runObservedWorker.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, launch, takeAll } = journey()
const empty = testDatabase({ name: "empty", sources: [], migrate: async () => {} })

/** Starts a worker and finds where it answers its operators. */
const start = (settings: Record<string, string> = {}) => runObservedWorker(url(), settings)

describe("the admin port", () => {
  it("offers metrics by names that stay", async () => {
    const { ask, metric } = await start()
    await metric("outreach_reading_up", ({ due, state }) => due === 1 && state === 1)
    const { status, type, text } = await ask("/metrics")
    expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
    const families = [...text.matchAll(/^# TYPE (outreach_\S+) (\S+)$/gm)]
    const operations = await readFile(new URL("../../../../docs/operations.md", import.meta.url), "utf8")
    for (const [, name] of families) expect(operations).toContain(`\`${name}`)
    expect(families.map(([, name, type]) => `${name} ${type}`).sort()).toEqual([
      "outreach_bounce_reports_total counter",
      "outreach_breakers_open gauge",
      "outreach_build_info gauge",
      "outreach_campaigns_complained gauge",
      "outreach_clock_doubted gauge",
      "outreach_complaint_reports_total counter",
      "outreach_database_check_seconds gauge",
      "outreach_database_horizon_age_seconds gauge",
      "outreach_database_horizon_age_transactions gauge",
      "outreach_database_up gauge",
      "outreach_dead_letters gauge",
      "outreach_dead_letters_total counter",
      "outreach_deliveries_dead_rows gauge",
      "outreach_deliveries_due gauge",
      "outreach_deliveries_in_flight gauge",
      "outreach_deliveries_oldest_due_age_seconds gauge",
      "outreach_deliveries_rows gauge",
      "outreach_delivery_attempt_duration_seconds histogram",
      "outreach_delivery_attempts_total counter",
      "outreach_delivery_claim_duration_seconds histogram",
      "outreach_delivery_claims_total counter",
      "outreach_delivery_first_attempt_delay_seconds histogram",
      "outreach_delivery_last_claim_timestamp_seconds gauge",
      "outreach_delivery_leases_lost_total counter",
      "outreach_delivery_settlements_refused_total counter",
      "outreach_endpoint_max_lag_events gauge",
      "outreach_endpoint_max_lag_seconds gauge",
      "outreach_endpoint_takeovers_total counter",
      "outreach_endpoints_failing gauge",
      "outreach_endpoints_owned gauge",
      "outreach_hints_heard_total counter",
      "outreach_hints_sent_total counter",
      "outreach_hits_oldest_waiting_age_seconds gauge",
      "outreach_hits_waiting gauge",
      "outreach_inbox_oldest_waiting_age_seconds gauge",
      "outreach_inbox_set_aside gauge",
      "outreach_inbox_waiting gauge",
      "outreach_message_attempts_total counter",
      "outreach_messages_due gauge",
      "outreach_messages_oldest_due_age_seconds gauge",
      "outreach_messages_quarantined gauge",
      "outreach_organization_clock_ahead_seconds gauge",
      "outreach_reading_timestamp_seconds gauge",
      "outreach_reading_up gauge",
      "outreach_replies_total counter",
      "outreach_replies_waiting gauge",
      "outreach_unsubscriptions_oldest_waiting_age_seconds gauge",
      "outreach_unsubscriptions_waiting gauge",
      "outreach_worker_paused gauge",
    ])
  })

  it("waits for the schema, and logs one line about it while every loop waits, and one when it is there", async () => {
    const worker = await runObservedWorker(empty(), {})
    const { ask } = worker
    const lines = () =>
      worker.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    expect(
      await eventually(
        () => ask("/readyz"),
        () => worker.text.includes("database unusable"),
      ),
    ).toMatchObject({ status: 503, text: expect.stringMatching(/^not ready: the schema is missing, .+ \(42P01\)\n$/) })
    await Effect.runPromise(Effect.provide(runMigrations({ grantTo: TEST_ROLES }), adaptersFor(empty())))
    await eventually(
      () => ask("/readyz"),
      ({ status }) => status === 200,
    )
    await eventually(
      () => worker.text.includes("database usable again"),
      (over) => over,
    )
    expect(lines().filter(({ level }) => level !== "INFO" && level !== "DEBUG")).toMatchObject([
      {
        message: "database unusable",
        annotations: { code: "42P01", advice: expect.stringContaining("run `ops migrate`") },
      },
    ])
  })

  it("answers nothing else", async () => {
    const { ask } = await start()
    expect(await ask("/livez?now")).toMatchObject({ status: 200, text: "alive\n" })
    for (const path of ["/", "/metrics/", "/toString", "//x", "/readyz/../metrics2"]) {
      expect(await ask(path)).toMatchObject({ status: 404, text: "not found\n" })
    }
    expect((await ask("/metrics", "POST")).status).toBe(404)
  })

  it("counts attempts and their outcomes, and names no partner, address or event", async () => {
    const healthy = await partner()
    const refusing = await partner((_, response) => response.writeHead(403).end())
    const { endpoint } = await launch(healthy, 501)
    const refused = await launch(refusing, 1)
    const worker = await start()
    const { ask, metric } = worker
    await metric("outreach_delivery_attempts_total", (by) => by["success"] === 2 && by["client_error"] === 1)
    await metric("outreach_delivery_attempt_duration_seconds_count", (calls) => calls[""] === 3)
    await metric("outreach_dead_letters_total", (by) => by["rejected"] === 1)
    const { text } = await ask("/metrics")
    expect(samples(text, "outreach_delivery_attempts_total")).toMatchObject({ success: 2, client_error: 1, refused: 0 })
    expect(samples(text, "outreach_delivery_attempt_duration_seconds_count")).toEqual({ "": 3 })
    expect(samples(text, "outreach_delivery_first_attempt_delay_seconds_count")).toEqual({ "": 3 })
    expect(samples(text, "outreach_dead_letters_total")).toEqual({ rejected: 1, exhausted: 0, poison: 0 })
    expect(samples(text, "outreach_delivery_claims_total")["succeeded"]).toBeGreaterThan(0)
    for (const secret of [
      healthy.url,
      new URL(refusing.url).port,
      endpoint.id,
      refused.organization.id,
      "clinic.test",
    ]) {
      expect(text).not.toContain(secret)
    }
    expect(worker.text).not.toMatch(/clinic\.test|127\.0\.0\.1:|whsec_|v1=/)
  })

  it("counts endpoints that were taken over, calls that were lost, and outcomes that came too late", async () => {
    const held: ServerResponse[] = []
    const slow = await partner((_, response) => held.push(response))
    await launch(slow, 1)
    const { metric } = await start({ WEBHOOK_CALL_SECONDS: "120" })
    await eventually(
      () => held.length,
      (calls) => calls === 1,
    )
    const giveBack = await takeAll()
    await giveBack()
    expect((await metric("outreach_endpoint_takeovers_total", (taken) => taken[""]! >= 1))[""]).toBeGreaterThanOrEqual(
      1,
    )
    expect(await metric("outreach_delivery_leases_lost_total", (lost) => lost[""] === 1)).toEqual({ "": 1 })
    // The attempt is made again; the first answer settles it, and the second is one too many.
    await eventually(
      () => held.length,
      (calls) => calls === 2,
    )
    for (const response of held) response.end()
    expect(await metric("outreach_delivery_settlements_refused_total", (late) => late[""] === 1)).toEqual({ "": 1 })
  })

  it("answers at once, and is ready, while a reading of the database waits for a lock", async () => {
    const { metric } = await run(
      whileOpen(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`lock table hits in access exclusive mode`),
        () =>
          Effect.promise(async () => {
            const worker = await start()
            await eventually(
              () => worker.text.includes("gauges: due failed"),
              (given) => given,
            )
            expect(await worker.metric("outreach_reading_up", ({ state }) => state === 1)).toEqual({ due: 0, state: 1 })
            expect(await worker.ask("/readyz")).toMatchObject({ status: 200 })
            return worker
          }),
      ),
    )
    expect(await metric("outreach_reading_up", ({ due }) => due === 1)).toEqual({ due: 1, state: 1 })
  })

  it("is opened as soon as the port is free, and keeps nothing from working meanwhile", async () => {
    const other = createTcpServer()
    const port = await listen(other)
    const to = await partner()
    await launch(to, 1)
    const worker = await runWorker(url(), { ADMIN_PORT: String(port) })
    await eventually(
      () => worker.text.includes(`Another process listens on port ${port} of 127.0.0.1;`) && to.received.length > 0,
      (both) => both,
    )
    other.close()
    await once(other, "close")
    const answer = await eventually(
      () =>
        fetch(`http://127.0.0.1:${port}/livez`).then(
          ({ status }) => status,
          () => undefined,
        ),
      (status) => status === 200,
    )
    expect(answer).toBe(200)
  })
})
