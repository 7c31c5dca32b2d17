import { execFileSync } from "node:child_process"
import { parseInput } from "@outreach/domain/parseInput"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { Result } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import { type Column, ColumnMapText, columnKey, suggestMap } from "../../src/csv/ColumnMap.ts"

const parse = (text: string) => Result.map(parseInput(ColumnMapText)(text), (map) => Object.fromEntries(map))
const column = (title: string, cells: ReadonlyArray<string> = []): Column => ({
  title,
  name: title,
  isMapped: false,
  cells,
})

it.each<[string, Record<string, string>]>([
  ["E-Mail=email,NPI Number=npi", { "e-mail": "email", "npi number": "npi" }],
  ["Name, first=first_name,Last  Name = Last Name", { "name, first": "first_name", "last name": "last_name" }],
  ["a=b=email", { "a=b": "email" }],
  ['"x=npi,y"=email,"say ""hi"""=npi', { "x=npi,y": "email", 'say "hi"': "npi" }],
  ["column 3=EMAIL,", { "column 3": "email" }],
])("reads %j", (text, map) => {
  expect(parse(text)).toEqual(Result.succeed(map))
})

it("offers a flag that a shell and the parser read as it was meant, whatever a column is called", () => {
  const title = fc
    .stringMatching(/^\p{L}[\p{L}\d _.()#/"'$`\\!=,-]{0,20}$/u)
    .filter((text) => columnKey(text) === text.toLowerCase())
  fc.assert(
    fc.property(fc.uniqueArray(title, { minLength: 2, maxLength: 2, selector: columnKey }), ([one, other]) => {
      const columns = [column(one!, ["1234567893"]), column(other!, ["dana@clinic.test"])]
      const offered = suggestMap(["npi", "email"], columns)!
      const given = execFileSync("sh", ["-c", `printf %s ${offered.slice("--map ".length)}`], { encoding: "utf8" })
      expect(parse(given)).toEqual(Result.succeed({ [columnKey(one!)]: "npi", [columnKey(other!)]: "email" }))
    }),
    // Each run starts a shell.
    { numRuns: propertyRuns(3) },
  )
})

it("goes by what the first rows hold before it goes by names, and offers nothing that neither speaks for", () => {
  const npis = ["1234567893", "", "1000000004"]
  expect(suggestMap(["npi"], [column("Billing NPI"), column("Id", npis)])).toBe("--map Id=npi")
  expect(suggestMap(["npi"], [column("NPI no.", ["1.23E+09"]), column("Phone", ["2125550100"])])).toBe(
    "--map 'NPI no.=npi'",
  )
  expect(suggestMap(["email"], [column("Email address"), column("Email sent")])).toBe("--map 'Email address=email'")
  expect(suggestMap(["npi", "email"], [column("Phone", ["2125550100"]), column("City")])).toBeUndefined()
})
