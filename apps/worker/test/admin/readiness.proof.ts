import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { runObservedWorker, samples } from "../runObservedWorker.ts"

describe("the admin port", () => {
  it("is ready while claims succeed, and still returns its known state while the database is down", async () => {
    const database = await startPostgres()
    onTestFinished(database.stop)
    await Effect.runPromise(Effect.provide(migrateWithRoles, adaptersFor(database.url)))
    const worker = await runObservedWorker(database.url, {})
    const { ask, metric } = worker
    const readyz = (status: number) =>
      eventually(
        () => ask("/readyz"),
        (answer) => answer.status === status,
      )
    expect(await readyz(200)).toMatchObject({ status: 200, text: "ready\n" })
    await metric("outreach_reading_up", ({ due, state }) => due === 1 && state === 1)

    await database.kill()
    expect(
      await eventually(
        () => ask("/readyz"),
        ({ text }) => text.includes("ECONNREFUSED"),
      ),
    ).toMatchObject({ status: 503, text: expect.stringMatching(/^not ready: nothing listens .+ \(ECONNREFUSED\)\n$/) })
    expect(await ask("/livez")).toMatchObject({ status: 200 })
    expect(await metric("outreach_reading_up", ({ due, state }) => due === 0 && state === 0)).toEqual({
      due: 0,
      state: 0,
    })
    expect(samples((await ask("/metrics")).text, "outreach_deliveries_in_flight")).toEqual({ "": 0 })

    await until(worker, "database unusable")
    await database.restart()
    expect(await readyz(200)).toMatchObject({ status: 200, text: "ready\n" })
    await until(worker, "database usable again")
    const problems = worker.lines.filter(({ level }) => level === "ERROR" || level === "WARN")
    expect(problems).toMatchObject([
      { level: "ERROR", message: "database unusable", annotations: { code: expect.any(String) } },
    ])
    expect(worker.text).not.toContain(new URL(database.url).password)
  })
})
