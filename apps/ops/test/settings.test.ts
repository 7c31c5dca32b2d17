import { expect, it } from "vitest"
import { readAllSettings } from "../src/doctor/processSettings.ts"

const { readers, declared } = readAllSettings()

it.each(Object.entries(readers))("%s reads only declared settings", (_, { names }) => {
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
