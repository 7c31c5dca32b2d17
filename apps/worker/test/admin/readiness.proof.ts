import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { runObservedWorker, samples } from "../runObservedWorker.ts"

/** A separate, migrated PostgreSQL that can be stopped and started. */
const stoppableDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), "outreach-admin-"))
  // If this process is root, the server runs as another user.
  await chmod(folder, 0o711)
  let server = await startPostgres({ dataDirectory: folder })
  const { url, port } = server
  onTestFinished(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  await Effect.runPromise(Effect.provide(migrateWithRoles, adaptersFor(url)))
  return {
    url,
    stop: () => server.stop(),
    start: async () => {
      server = await startPostgres({ dataDirectory: folder, port })
    },
  }
}

describe("the admin port", () => {
  it("is ready while claims succeed, and still returns its known state while the database is down", async () => {
    const database = await stoppableDatabase()
    const worker = await runObservedWorker(database.url, {})
    const { ask, metric } = worker
    const readyz = (status: number) =>
      eventually(
        () => ask("/readyz"),
        (answer) => answer.status === status,
      )
    expect(await readyz(200)).toMatchObject({ status: 200, text: "ready\n" })
    await metric("outreach_reading_up", ({ due, state }) => due === 1 && state === 1)

    await database.stop()
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
    await database.start()
    expect(await readyz(200)).toMatchObject({ status: 200, text: "ready\n" })
    await until(worker, "database usable again")
    const problems = worker.lines.filter(({ level }) => level === "ERROR" || level === "WARN")
    expect(problems).toMatchObject([
      { level: "ERROR", message: "database unusable", annotations: { code: expect.any(String) } },
    ])
    expect(worker.text).not.toContain(new URL(database.url).password)
  })
})
