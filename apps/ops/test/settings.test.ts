import { Effect } from "effect"
import { expect, it } from "vitest"
import { declaredSettings, SETTINGS_READERS, settingsRead } from "../src/doctor/processSettings.ts"

const readers = Object.entries(SETTINGS_READERS).map(
  ([name, reader]) => [name, Effect.runSync(settingsRead(reader))] as const,
)
const declared = declaredSettings()

it.each(readers)("%s reads only declared settings", (_, names) => {
  expect(
    [...names].filter((name) => !declared.has(name) && declared.get(name.replace(/_FILE$/, ""))?.isSecret !== true),
  ).toEqual([])
})

it("describes each setting and its valid values", () => {
  for (const [name, { about, expected }] of declared) {
    expect(about, name).toMatch(/\w{3}.*[^.]$/)
    expect(expected, name).toMatch(/\w{3}/)
  }
})
