import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

const rowsOf = (document: Document, caption: string) =>
  [...document.querySelectorAll("table")]
    .filter((table) => table.querySelector("caption")?.textContent === caption)
    .flatMap((table) => [...table.querySelectorAll("tbody tr")])
    .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent!.trim()))

it("lists problems with their remedies and alerts, and the checks without a problem", async () => {
  await test().run(seedDeadLetters(3))
  const { status, document } = await (await test().as("viewer")).get("/system")
  expect(status).toBe(200)
  const problems = rowsOf(document, "Problems")
  expect(problems[0]).toEqual([
    "critical",
    expect.stringContaining("No worker runs"),
    expect.stringContaining("Start a worker."),
    "OutreachNoWorker fires after 2m; docs/on-call.md#outreachnoworker",
  ])
  expect(problems).toContainEqual([
    "warning",
    "Dead letters not replayed or removed: 3.",
    expect.any(String),
    "OutreachDeadLettersLeft fires after 1d; docs/on-call.md#outreachdeadlettersleft",
  ])
  const right = rowsOf(document, "Passed checks").map(([word, found]) => [word, found])
  expect(right).toContainEqual(["ok", "The schema matches this release, and the database accepts writes."])
  expect(test().logs.filter((line) => /unhandled|failed to read/.test(line))).toEqual([])
})
