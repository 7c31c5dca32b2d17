import { expect } from "@effect/vitest"
import { activeAlerts } from "@outreach/domain/operators/alerts"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { backoffice } from "../../src/backoffice.ts"
import { AlertReader } from "../../src/inspection/AlertReader.ts"

const { test } = testsOnDatabase({ layer: backoffice })

const readNames = Effect.map(
  AlertReader.use(({ read }) => read),
  (reading) => activeAlerts(reading).map(({ name, value }) => [name, value]),
).pipe(Effect.provide(AlertReader.layer))

test("evaluates the alerts from the database", function* () {
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
