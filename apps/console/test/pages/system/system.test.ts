import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { expect, it } from "vitest"
import { rowsOf, startConsole } from "../../startConsole.ts"

const test = startConsole()

it("lists problems with their remedies and alerts, and the checks without a problem", async () => {
  await test().run(seedDeadLetters(3))
  const page = await (await test().as("viewer")).get("/system")
  expect(page.status).toBe(200)
  const problems = rowsOf(page, "Problems")
  expect(problems[0]).toEqual([
    "OutreachNoWorker fires after 2m; docs/on-call.md#outreachnoworker",
    "critical",
    expect.stringContaining("No worker runs"),
    expect.any(String),
    expect.stringContaining("Start a worker."),
  ])
  expect(problems).toContainEqual([
    "OutreachDeadLettersLeft fires after 1d; docs/on-call.md#outreachdeadlettersleft",
    "warning",
    "Dead letters not replayed or removed: 3.",
    expect.stringMatching(/^\d{4}-|ago/),
    expect.any(String),
  ])
  const right = rowsOf(page, "Passed checks").map(([, word, found]) => [word, found])
  expect(right).toContainEqual(["ok", "The schema matches this release, and the database accepts writes."])
  expect(test().logs.filter((line) => /unhandled|failed to read/.test(line))).toEqual([])
})
