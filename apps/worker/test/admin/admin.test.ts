import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer as createTcpServer } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { adminServer } from "@outreach/process/adminServer"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { listen } from "@outreach/testing/listen"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { partner } from "@outreach/testing/partner"
import { sql, whileOpen } from "@outreach/testing/sql"
import { TEST_ROLES } from "@outreach/testing/testRoles"
import { eventually, until } from "@outreach/testing/until"
import { Effect, Logger, Queue } from "effect"
import { holdingPartner } from "../holdingPartner.ts"
import { journey } from "../journey.ts"
import { runObservedWorker, samples } from "../runObservedWorker.ts"

const { url, run, launch, takeAll, deliveries } = journey()
const empty = testDatabase({ name: "empty", migrate: async () => {} })

describe("the admin port", () => {
  it("has the documented metrics, which count attempts and identify no partner, address or event", async () => {
    const healthy = await partner()
    const refusing = await partner((_, response) => response.writeHead(403).end())
    const { endpoint } = await launch(healthy, 501)
    const refused = await launch(refusing, 1)
    const worker = await runObservedWorker(url(), {})
    const { ask, metric } = worker
    await metric("outreach_delivery_attempts_total", (by) => by["success"] === 2 && by["client_error"] === 1)
    await metric("outreach_delivery_attempt_duration_seconds_count", (calls) => calls[""] === 3)
    await metric("outreach_dead_letters_total", (by) => by["rejected"] === 1)
    await metric("outreach_reading_up", ({ due, state }) => due === 1 && state === 1)
    const { status, type, text } = await ask("/metrics")
    expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
    expect(samples(text, "outreach_delivery_attempts_total")).toMatchObject({ success: 2, client_error: 1, refused: 0 })
    expect(samples(text, "outreach_delivery_attempt_duration_seconds_count")).toEqual({ "": 3 })
    expect(samples(text, "outreach_delivery_first_attempt_delay_seconds_count")).toEqual({ "": 3 })
    expect(samples(text, "outreach_dead_letters_total")).toEqual({ rejected: 1, exhausted: 0, poison: 0 })
    expect(samples(text, "outreach_delivery_claims_total")["succeeded"]).toBeGreaterThan(0)
    const { organization } = refused
    for (const secret of [healthy.url, new URL(refusing.url).port, endpoint.id, organization.id, "clinic.test"]) {
      expect(text).not.toContain(secret)
    }
    expect(worker.text).not.toMatch(/clinic\.test|127\.0\.0\.1:|whsec_|v1=/)
    const families = [...text.matchAll(/^# TYPE (outreach_\S+) (\S+)$/gm)]
    const operations = await readFile(new URL("../../../../docs/operations.md", import.meta.url), "utf8")
    const documented = operations
      .match(/(?<=\n## Metrics of a worker\n).*?(?=\n## Logs)/s)![0]
      .matchAll(/`(outreach_\w+)/g)
    const everywhere = ["build_info", "database_up", "database_check_seconds"].map((name) => `outreach_${name}`)
    const names = [...everywhere, ...[...documented].map(([, name]) => name!)]
    expect(families.map(([, name]) => name!).sort()).toEqual(names.sort())
    for (const [, name, type] of families) expect([name, type === "counter"]).toEqual([name, name!.endsWith("_total")])
  })

  it("reports a missing schema once while every loop waits, and is ready when the schema is there", async () => {
    const worker = await runObservedWorker(empty(), {})
    await until(worker, "database unusable")
    expect(await worker.ask("/readyz")).toMatchObject({
      status: 503,
      text: expect.stringMatching(/^not ready: the schema is missing, .+ \(42P01\)\n$/),
    })
    await Effect.runPromise(Effect.provide(runMigrations({ grantTo: TEST_ROLES }), adaptersFor(empty())))
    await until(worker, "database usable again")
    await eventually(
      () => worker.ask("/readyz"),
      ({ status }) => status === 200,
    )
    expect(worker.lines.filter(({ level }) => level !== "INFO" && level !== "DEBUG")).toMatchObject([
      {
        message: "database unusable",
        annotations: { code: "42P01", advice: expect.stringContaining("run `ops migrate`") },
      },
    ])
  })

  it("counts endpoints that were taken over, calls that were lost, and outcomes that are not settled for that", async () => {
    const { to, receives, answer } = await holdingPartner()
    const { endpoint } = await launch(to, 1)
    const { metric } = await runObservedWorker(url(), { WEBHOOK_CALL_SECONDS: "120" })
    await receives(1)
    const giveBack = await takeAll()
    answer()
    expect(await metric("outreach_delivery_settlements_refused_total", (late) => late[""] === 1)).toEqual({ "": 1 })
    expect(await deliveries(endpoint.id)).toMatchObject([{ state: "sending", attempts: 0, made: [] }])
    // After the worker has the endpoint back, it repeats the attempt.
    await giveBack()
    expect(await metric("outreach_delivery_leases_lost_total", (lost) => lost[""] === 1)).toEqual({ "": 1 })
    await receives(2)
    answer()
    const [delivered] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "delivered",
    )
    expect(delivered!.made).toMatchObject([
      { number: 1, outcome: "outcome_unknown", status: null },
      { number: 1, outcome: "success", status: 200 },
    ])
    expect(new Set(to.received.map(({ deliveryId }) => deliveryId)).size).toBe(1)
    await metric("outreach_endpoint_takeovers_total", (taken) => taken[""]! >= 1)
  })

  it("responds, and is ready, while a reading of the database waits for a lock", () =>
    run(
      whileOpen(sql`lock table hits in access exclusive mode`, () =>
        Effect.promise(async () => {
          const worker = await runObservedWorker(url(), {})
          await until(worker, ({ text }) => text.includes("gauges: due failed"))
          expect(await worker.metric("outreach_reading_up", ({ state }) => state === 1)).toEqual({ due: 0, state: 1 })
          expect(await worker.ask("/readyz")).toMatchObject({ status: 200 })
        }),
      ),
    ))

  it("opens as soon as its port is free, and serves only its pages", async () => {
    const other = createTcpServer()
    const host = loopbackAddress()
    const port = await listen(other, undefined, host)
    const serve = Effect.gen(function* () {
      const logged = yield* Queue.unbounded<unknown>()
      const logger = Logger.make(({ message }) => Queue.offerUnsafe(logged, message))
      const server = adminServer({ host, port, unreadiness: Effect.undefined })
      yield* Effect.forkScoped(Effect.provide(server, Logger.layer([logger])))
      expect(String(yield* Queue.take(logged))).toContain("admin port")
      yield* Effect.promise(async () => {
        other.close()
        await once(other, "close")
      })
      while (String(yield* Queue.take(logged)) !== "admin port open") {}
      const ask = (path: string, method = "GET") =>
        Effect.promise(async () => {
          const response = await fetch(`http://${host}:${port}${path}`, { method })
          return `${response.status} ${await response.text()}`
        })
      expect(yield* ask("/livez?now")).toBe("200 alive\n")
      for (const path of ["/", "/metrics/", "/toString", "//x", "/readyz/../metrics2"]) {
        expect(yield* ask(path)).toBe("404 not found\n")
      }
      expect(yield* ask("/metrics", "POST")).toMatch(/^404 /)
    })
    await Effect.runPromise(Effect.scoped(serve))
  })
})
