import { describe, expect } from "@effect/vitest"
import { activeAlerts } from "@outreach/domain/operators/alerts"
import { Partitions } from "@outreach/postgres/Partitions"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { backoffice } from "../../src/backoffice.ts"
import { AlertReader } from "../../src/inspection/AlertReader.ts"
import { SystemReader } from "../../src/inspection/SystemReader.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))

describe("SystemReader", () => {
  test("reads the processes and their releases from their connections' names", function* () {
    const sql = yield* SqlClient.SqlClient
    const { readProcesses } = yield* SystemReader
    expect((yield* readProcesses).map(({ name, release }) => ({ name, release }))).toContainEqual({
      ...{ name: "test", release: null },
    })
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`set local application_name = 'outreach-worker/1.4.0'`
        const worker = (yield* readProcesses).find(({ name }) => name === "outreach-worker")
        expect(worker).toMatchObject({ release: "1.4.0", connections: 1 })
        expect(worker!.since).toMatch(/^\d{4}-/)
      }),
    )
  })

  test("returns the newest migration and the pending files", function* () {
    const sql = yield* SqlClient.SqlClient
    const { readSchema } = yield* SystemReader
    const before = yield* readSchema
    expect(before).toMatchObject({ pending: [], newest: { file: expect.stringMatching(/^migrations\/\d{4}_/) } })
    const newest = before.newest!.file
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`delete from migrations where file = any (${[newest, "functions/write_progress.sql"]}::text[])`
        const after = yield* readSchema
        expect(after.migrations).toBe(before.migrations - 1)
        expect(after.pending).toEqual([newest, "functions/write_progress.sql"])
        yield* sql`insert into migrations (file, checksum) values (${newest}, ''), ('functions/write_progress.sql', '')`
      }),
    )
  })

  test("measures the tables with their partitions, and returns the partitions' time ranges", function* () {
    const { readTables, readPartitions } = yield* SystemReader
    yield* (yield* Partitions).add("events")
    yield* (yield* Partitions).add("delivered")
    const tables = yield* readTables
    expect(tables.length).toBe(20)
    expect(tables.map(({ name }) => name)).toContain("events")
    expect(tables.map(({ name }) => name).filter((name) => /_later|_default|_\d{4}/.test(name))).toEqual([])
    expect(tables.every(({ bytes, indexBytes }) => bytes > 0 && indexBytes <= bytes)).toBe(true)

    const [month] = new Date().toISOString().match(/^\d{4}-\d\d/)!
    const partitions = yield* readPartitions
    expect(partitions.map(({ table }) => table)).toEqual(["delivered", "events", "inbox", "hits"])
    expect(partitions[0]).toMatchObject({ oldest: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), outside: 0 })
    expect(partitions[1]!.oldest! <= month!).toBe(true)
    expect(partitions[1]!.newest! > month!).toBe(true)
  })
})

const readNames = Effect.map(
  AlertReader.use(({ read }) => read),
  (reading) => activeAlerts(reading).map(({ name, value }) => [name, value]),
).pipe(Effect.provide(AlertReader.layer))

test("evaluates the alerts from the database", function* () {
  const sql = yield* SqlClient.SqlClient
  expect(yield* readNames).toEqual([["OutreachNoWorker", 1]])

  yield* sql`insert into delivery_workers (token, alive_until) values (gen_random_uuid(), now() + interval '1 hour')`
  expect(yield* readNames).toEqual([])

  yield* seedDeadLetters(3)
  yield* sql`insert into restores (id, restored_to) values ('rst_1', now())`
  expect(yield* readNames).toEqual([
    ["OutreachWorkersPaused", 1],
    ["OutreachDeadLettersLeft", 3],
  ])
})
