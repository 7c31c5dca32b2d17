import { misspeltSettings } from "@outreach/process/misspeltSettings"
import { declaredSettings } from "@outreach/process/setting"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { SETTINGS_READERS, settingsRead } from "../src/doctor/processSettings.ts"

const readers = Object.entries(SETTINGS_READERS).map(
  ([name, reader]) => [name, Effect.runSync(settingsRead(reader))] as const,
)
/** The settings of the processes. Tests that run in the same process declare settings of their own. */
const declared = [...declaredSettings.keys()].filter((name) => !name.startsWith("TEST_"))

it("every setting that a module declares is read by a process whose settings the doctor and docs/settings.md know", () => {
  const read = new Set(readers.flatMap(([, names]) => [...names]))
  expect(declared.filter((name) => !read.has(name))).toEqual([])
})

it.each(readers)("%s reads no setting that is not declared", (_, names) => {
  expect([...names].filter((name) => !declared.includes(name.replace(/_FILE$/, "")))).toEqual([])
})

it.each(readers)("%s takes no setting of another process for a misspelt one", (_, names) => {
  expect(misspeltSettings(declared, names)).toEqual([])
})

it("every setting has a sentence that says what it means, and what its text must be", () => {
  for (const name of declared) {
    const { about, expected } = declaredSettings.get(name)!
    expect(about, name).toMatch(/\w{3}.*[^.]$/)
    expect(expected, name).toMatch(/\w{3}/)
  }
})
