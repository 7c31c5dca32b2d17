import { email, npi } from "@outreach/testing/seedCampaign"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Cell, readEmail, readField, readNpi } from "../../src/csv/spreadsheetCells.ts"

const NPI = npi(23_456_789)
const EMAIL = email(7)
const grouped = NPI.replace(/^(\d)(\d{3})(\d{3})(\d{3})$/, "$1,$2,$3,$4")

describe("an NPI", () => {
  it.each([
    ["spaces around", ` ${NPI}\u00A0`],
    ["spaces around", `\u200B${NPI}\uFEFF`],
    ["an apostrophe before", `'${NPI}`],
    ['the formula ="" around', `="${NPI}"`],
    ["a decimal zero after", `${NPI}.0`],
    ["the exponent of", `${NPI[0]}.${NPI.slice(1)}E9`],
    ["the exponent of", `${NPI[0]},${NPI.slice(1)}E+09`],
    ["the grouping of", grouped],
    ["the grouping of", grouped.replaceAll(",", "\u202F")],
    ["full-width digits", [...NPI].map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)).join("")],
  ])("loses %s it, which is said: %j", (what, cell) => {
    expect(readNpi(cell)).toEqual({ value: NPI, remark: expect.stringMatching(what) })
  })

  it.each([
    ["shortened by Excel", "1.23457E+09"],
    ["shortened by Excel", "1,23457e+9"],
    ["shortened by Excel", "1E+09"],
    ["a date", "4-Mar"],
    ["a date", "Mar-04"],
    ["a date", "4. Mär 2026"],
    ["a date", "2026-03-04 00:00:00"],
    ["too few digits", NPI.slice(1)],
    ["too many digits", `${NPI}0`],
    ["error of a formula", "#N/A"],
    ["error of a formula", "#BEZUG!"],
    ["wider than its column", "##########"],
    ["a formula", `=A1`],
    ["an e-mail address", EMAIL],
  ])("that is %s is refused with what to do, and nothing of it is repeated: %j", (what, cell) => {
    const { reason, remark } = readNpi(cell)
    expect(reason).toContain(what)
    expect(reason).toMatch(/: (?:format|see|none is|paste|widen|give) /)
    expect(reason).not.toContain(EMAIL)
    expect(remark).toBeUndefined()
  })
})

describe("an e-mail address", () => {
  it.each([
    ["spaces around", `\u00A0${EMAIL} `],
    ["apostrophes around", `'${EMAIL}'`],
    ["mailto: before", `mailto:${EMAIL}`],
    ["a name beside", `Reyes, Dana <${EMAIL}>`],
    ["a name beside", `<${EMAIL}>`],
    ["a comma or semicolon after", `${EMAIL};`],
    ['the formula ="" around', `="${EMAIL}"`],
  ])("loses %s it, which is said: %j", (what, cell) => {
    expect(readEmail(cell)).toEqual({ value: EMAIL, remark: expect.stringContaining(what) })
  })

  it.each([
    ["a formula", `=HYPERLINK("mailto:${EMAIL}","${EMAIL}")`],
    ["more than one", `${EMAIL}; other@clinic.test`],
    ["more than one", `dana@clinic.test <${EMAIL}>`],
    ["a space within", "dana reyes@clinic.test"],
    ["full-width letters", "dana＠clinic.test"],
    ["an apostrophe", `'${EMAIL}`],
    ["shows nothing", "dana\u200B@clinic.test"],
    ["shows nothing", "dana\u202Etset@clinic.test"],
    ["an NPI", NPI],
    ["error of a formula", "#VALUE!"],
  ])("that is or has %s is refused with what to do, and nothing of it is repeated: %j", (what, cell) => {
    const { reason } = readEmail(cell)
    expect(reason).toContain(what)
    expect(reason).not.toMatch(/clinic\.test/)
  })

  it("loses the apostrophe that keeps it from being a formula", () => {
    expect(readEmail("'+dana@clinic.test")).toMatchObject({ value: "+dana@clinic.test" })
    expect(readEmail("'-dana@clinic.test")).toMatchObject({ value: "-dana@clinic.test" })
  })

  it("with letters of other scripts stays as it is", () => {
    expect(readEmail("josé@büro.test")).toEqual({ value: "josé@büro.test" })
  })
})

describe("a field", () => {
  it.each<[string, string, Cell]>([
    ["zip", "0234", { value: "0234", remark: expect.stringContaining("zeros in front") }],
    ["zip", "02345", { value: "02345" }],
    ["phone", "1.23457E+09", { value: "1.23457E+09", remark: expect.stringContaining("shortened by Excel") }],
    ["code", "4-Mar", { value: "4-Mar", remark: expect.stringContaining("a date") }],
    ["first_name", "#N/A", { value: "#N/A", reason: expect.stringContaining("the field first_name is the error") }],
    ["first_name", "'t Hooft", { value: "'t Hooft" }],
    ["first_name", "'=1+2", { value: "=1+2", remark: expect.stringContaining("an apostrophe before") }],
  ])("%s of %j", (name, value, cell) => {
    expect(readField(name, value)).toEqual(cell)
  })
})

it("never changes a valid value, and never takes anything for a value that is not in the cell", () => {
  const digits = fc.nat(99_999_999).map(npi)
  fc.assert(
    fc.property(digits, (valid) => {
      expect(readNpi(valid)).toEqual({ value: valid })
    }),
  )
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[\d.,'=" E+@a-]{0,16}$/)), (cell) => {
      for (const { value, reason } of [readNpi(cell), readEmail(cell)]) {
        const letters = (text: string) => text.normalize("NFKC").replaceAll(/[^\p{L}\d@]/gu, "")
        expect(letters(cell)).toContain(letters(value).slice(0, 9))
        expect(reason ?? "").not.toContain("undefined")
      }
    }),
  )
})
