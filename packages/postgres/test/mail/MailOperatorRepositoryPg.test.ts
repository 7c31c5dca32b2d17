import { describe, expect } from "@effect/vitest"
import { MailOperatorRepository } from "@outreach/domain/mail/MailOperatorRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { withRescans } from "../withRescans.ts"

const test = effectTest(runOnDatabase())

describe("MailOperatorRepositoryPg.take", () => {
  test("takes no more domains than it was asked for, however its statement is planned", function* () {
    const operators = yield* MailOperatorRepository
    yield* operators.need(new Set(Array.from({ length: 40 }, (_, i) => `domain-${i}.test`)))
    const taken = [yield* withRescans(operators.take(7)), yield* operators.take(30), yield* operators.take(30)]
    expect(taken.map((domains) => domains.length)).toEqual([7, 30, 3])
    expect(new Set(taken.flat()).size).toBe(40)
  })
})
