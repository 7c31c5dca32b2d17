import { describe, expect, it } from "vitest"
import { checkLine } from "../../src/campaigns/RecipientImport.ts"

const line = { number: 2, npi: "1234567893", email: "ada@clinic.test" }

describe("checkLine", () => {
  it("accepts a valid NPI with a valid e-mail address", () => {
    expect(checkLine(line)).toBeUndefined()
    expect(checkLine({ ...line, email: `${"a".repeat(242)}@clinic.test` })).toBeUndefined()
  })

  it.each([
    "",
    "ada",
    "ada@",
    "@clinic.test",
    "ada@clinic",
    "ada lovelace@clinic.test",
    "ada@clinic.test, bob@clinic.test",
    `${"a".repeat(243)}@clinic.test`,
  ])("refuses the e-mail address %j without repeating it", (email) => {
    expect(checkLine({ ...line, email })).toBe("the e-mail address is not valid")
  })

  it("names the NPI first when both are wrong", () => {
    expect(checkLine({ ...line, npi: "1234567890", email: "" })).toBe("the NPI's check digit is wrong")
  })
})
