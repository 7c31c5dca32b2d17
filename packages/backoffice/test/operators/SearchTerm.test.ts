import { apiKeyText } from "@outreach/domain/organizations/ApiKey"
import { parseInput } from "@outreach/domain/textSchema"
import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SearchTerm } from "../../src/operators/SearchTerm.ts"

const ID = `cmp_${"0123456789abcdef".repeat(2)}`

describe("a search term", () => {
  it.each([
    [" Dana.Reyes@Clinic.test ", "email", "Dana.Reyes@Clinic.test"],
    ["1234567893", "npi", "1234567893"],
    ["aB3dE9", "token", "aB3dE9"],
    ["123456", "token", "123456"],
    [ID.toUpperCase(), "id", ID],
    ["evt_a1", "id", "evt_a1"],
    [` ${apiKeyText(true, "a".repeat(30))}`, "key", apiKeyText(true, "a".repeat(30))],
    [apiKeyText(false, "b".repeat(30)), "key", apiKeyText(false, "b".repeat(30))],
    ["whsec_abc", "secret", "whsec_abc"],
    [" Spring 2026 ", "name", "Spring 2026"],
    ["%", "name", "%"],
    ["dana@", "name", "dana@"],
    ["@clinic.test", "name", "@clinic.test"],
  ])("%j is of the kind %s", (text, by, value) => {
    expect(parseInput(SearchTerm)(text)).toEqual(Result.succeed({ by, value }))
  })

  it.each([
    ["1234567890", "the NPI's check digit is wrong"],
    ["d@", "the e-mail address is not valid"],
    ["dana@clinic test", "the e-mail address is not valid"],
    ["cmp_1", "the id is not whole: 32 hex digits follow its prefix"],
    [apiKeyText(true, "a".repeat(30)).slice(0, -1), "the API key is not whole"],
    ["  ", ""],
  ])("%j is not valid", (text, reason) => {
    expect(parseInput(SearchTerm)(text)).toMatchObject({ failure: { reason } })
  })

  it("is never repeated in the error if it is invalid", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 7 }), (text) => {
        const parsed = parseInput(SearchTerm)(text)
        if (Result.isFailure(parsed)) expect(JSON.stringify(parsed.failure)).not.toContain(text.trim() || "\0")
      }),
    )
  })
})
