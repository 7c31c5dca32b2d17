import { expect } from "@effect/vitest"
import { FactReader } from "@outreach/postgres/operators/FactReader"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"

const { test } = testsOnDatabase()

const read = Effect.map(
  FactReader.use(({ readAlerts }) => readAlerts),
  (alerts) => alerts.map(({ name, value, age }) => [name, value, age !== null]),
)

test("evaluates the alerts from the database, with the age of those whose rows have a time", function* () {
  expect(yield* read).toEqual([["OutreachNoWorker", 0, false]])

  yield* sql`insert into delivery_workers (token, alive_until) values (gen_random_uuid(), now() + interval '1 hour')`
  expect(yield* read).toEqual([])

  yield* seedDeadLetters(3)
  yield* sql`insert into restores (id, restored_to) values ('rst_1', now())`
  expect(yield* read).toEqual([
    ["OutreachWorkersPaused", 1, false],
    ["OutreachDeadLettersLeft", 3, true],
  ])
})
