import { describe, expect, it } from "@effect/vitest"
import { planMigrations } from "@outreach/postgres/migrations/planMigrations"
import type { SqlFile } from "@outreach/postgres/readSqlFiles"
import { Effect } from "effect"

const file = (path: string, checksum = "a"): SqlFile => ({ file: path, name: path, text: "", checksum })
const ONE = "migrations/0001_one.sql"
const TWO = "migrations/0002_two.sql"
const THREE = "migrations/0003_three.sql"
const ADD = "functions/add.sql"

const plan = (files: ReadonlyArray<SqlFile>, applied: Readonly<Record<string, string>>) =>
  planMigrations(
    {
      migrations: files.filter(({ file }) => file.startsWith("migrations/")),
      functions: files.filter(({ file }) => file.startsWith("functions/")),
    },
    new Map(Object.entries(applied)),
  ).pipe(
    Effect.map(({ migrations, functions, ...rest }) => ({
      files: [...migrations, ...functions].map(({ file }) => file),
      ...rest,
    })),
  )
const run = (...args: Parameters<typeof plan>) => Effect.runSync(plan(...args))

describe("planMigrations", () => {
  it("applies each migration once, in order, and each function with a new text", () => {
    const files = [file(ONE), file(TWO), file(THREE), file(ADD)]
    expect(run(files, {})).toMatchObject({ files: [ONE, TWO, THREE, ADD] })
    expect(run(files, { [ONE]: "a", [ADD]: "b" })).toMatchObject({ files: [TWO, THREE, ADD] })
    expect(run(files, { [ONE]: "a", [TWO]: "a", [THREE]: "a", [ADD]: "a" })).toEqual({
      files: [],
      removed: [],
      isNewer: false,
    })
  })

  it("removes functions without a file", () => {
    expect(run([file(ONE)], { [ONE]: "a", [ADD]: "a" })).toEqual({ files: [], removed: [ADD], isNewer: false })
  })

  it("doesn't change a database that a newer release has migrated, including its functions", () => {
    const newer = { [ONE]: "a", [TWO]: "a", [ADD]: "b", "functions/new.sql": "a" }
    expect(run([file(ONE), file(ADD)], newer)).toEqual({ files: [], removed: [], isNewer: true })
  })

  it.each([
    [
      "was changed",
      [file(ONE, "b"), file(TWO)],
      { [ONE]: "a" },
      /^migrations\/0001_one.sql was changed .* next number\. /,
    ],
    [
      "is missing",
      [file(ONE), file(THREE)],
      { [ONE]: "a", [TWO]: "a" },
      /^migrations\/0002_two.sql .* is missing\. Restore/,
    ],
    [
      "has another name",
      [file("migrations/0001_a.sql"), file(TWO)],
      { [ONE]: "a" },
      /^migrations\/0001_a.sql comes before migrations\/0001_one.sql, /,
    ],
    [
      "came late",
      [file(ONE), file(TWO), file(THREE)],
      { [ONE]: "a", [THREE]: "a" },
      /^migrations\/0002_two.sql comes before /,
    ],
    [
      "was changed, also for a release that is older than the database",
      [file(ONE, "b")],
      { [ONE]: "a", [TWO]: "a" },
      /^migrations\/0001_one.sql was changed /,
    ],
  ] as const)("rejects a migration that %s", (_what, files, applied, message) => {
    const { _tag, message: said } = Effect.runSync(Effect.flip(plan(files, applied)))
    expect(_tag).toBe("MigrationMismatch")
    expect(said).toMatch(message)
  })
})
