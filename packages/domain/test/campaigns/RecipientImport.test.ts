import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { ImportLine, judgeCandidates, type KnownClinicians } from "../../src/campaigns/RecipientImport.ts"
import type { Candidate } from "../../src/recipients/Recipient.ts"
import { parseInput } from "../../src/textSchema.ts"

const reasonAgainst = (line: ImportLine) => Result.getOrUndefined(Result.flip(parseInput(ImportLine)(line)))?.reason
const line = { number: 2, npi: "1234567893", email: "ada@clinic.test" }

describe("ImportLine", () => {
  it("accepts a valid NPI with a valid e-mail address", () => {
    expect(reasonAgainst(line)).toBeUndefined()
    expect(reasonAgainst({ ...line, email: `${"a".repeat(242)}@clinic.test` })).toBeUndefined()
  })

  it.each(["", "ada@clinic", "ada@clinic.test, bob@clinic.test", `${"a".repeat(243)}@clinic.test`])(
    "refuses the e-mail address %j without repeating it",
    (email) => {
      expect(reasonAgainst({ ...line, email })).toBe("the e-mail address is not valid")
    },
  )

  it("names the NPI first when both are wrong", () => {
    expect(reasonAgainst({ ...line, npi: "1234567890", email: "" })).toBe("the NPI's check digit is wrong")
  })
})

describe("judgeCandidates", () => {
  const known = {
    recipients: [
      { npi: "1", email: "One@clinic.test" },
      { npi: "2", email: "two@clinic.test" },
    ],
    suppressions: [
      { kind: "npi" as const, value: "2" },
      { kind: "npi" as const, value: "3" },
      { kind: "email" as const, value: "four@clinic.test" },
    ],
    qualified: new Set(["5"]),
    erased: { npis: new Map([["8", "erased 08"]]), emails: new Set(["nine@clinic.test"]) },
  } as unknown as KnownClinicians
  const judge = (clinicians: ReadonlyArray<{ readonly npi: string; readonly email: string }>) =>
    judgeCandidates(clinicians as ReadonlyArray<Candidate>, known)

  it.each([
    ["registered", "6", "six@clinic.test"],
    ["suppressed", "8", "eight@clinic.test"],
    ["suppressed", "7", "Nine@clinic.test"],
    ["already_there", "1", "one@CLINIC.test"],
    ["already_there", "2", "two@clinic.test"],
    ["suppressed", "2", "another@clinic.test"],
    ["suppressed", "3", "three@clinic.test"],
    ["suppressed", "4", "FOUR@clinic.test"],
    ["suppressed", "5", "one@clinic.test"],
    ["npi_taken", "1", "two@clinic.test"],
    ["email_taken", "6", "ONE@clinic.test"],
  ])("decides %s for the NPI %s with %s", (registration, npi, email) => {
    expect(judge([{ npi, email }])).toEqual([registration])
  })

  it("judges candidates against those before them that are registered", () => {
    const [first, twin] = [line, { ...line, npi: "1245319599" }]
    expect(judge([first, first, twin, { ...first, email: "other@clinic.test" }])).toEqual([
      "registered",
      "already_there",
      "email_taken",
      "npi_taken",
    ])
  })
})
