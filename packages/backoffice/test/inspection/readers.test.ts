import { expect } from "@effect/vitest"
import { ALERTING_FACTS, activeAlerts } from "@outreach/domain/operators/alerts"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { backoffice } from "../../src/backoffice.ts"

const { test } = testsOnDatabase({ layer: backoffice })

const readNames = Effect.map(readFacts(ALERTING_FACTS), (facts) =>
  activeAlerts(facts).map(({ name, value }) => [name, value]),
)

test("evaluates the alerts from the database", function* () {
  expect(yield* readNames).toEqual([["OutreachNoWorker", 0]])

  yield* sql`insert into delivery_workers (token, alive_until) values (gen_random_uuid(), now() + interval '1 hour')`
  expect(yield* readNames).toEqual([])

  yield* seedDeadLetters(3)
  yield* sql`insert into restores (id, restored_to) values ('rst_1', now())`
  expect(yield* readNames).toEqual([
    ["OutreachWorkersPaused", 1],
    ["OutreachDeadLettersLeft", 3],
  ])
})
