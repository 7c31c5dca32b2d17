import { csvRow, disarmFormula } from "@outreach/backoffice/csv/csvTable"
import { describe, expect, it } from "vitest"

describe("a row of CSV", () => {
  it("quotes commas, quotes, line ends and outer spaces, and terminates with CRLF", () => {
    expect(csvRow(["a", null, "b,c", 'd"e', "f\ng", " h", ""])).toBe('a,,"b,c","d""e","f\ng"," h",\r\n')
  })

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])("disarms the formula %j", (text) => {
    expect(disarmFormula(text)).toBe(`'${text}`)
    expect(disarmFormula(`a${text}`)).toBe(`a${text}`)
  })
})
