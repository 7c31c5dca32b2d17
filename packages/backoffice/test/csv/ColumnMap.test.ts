import { parseInput } from "@outreach/domain/textSchema"
import { Result } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import { ColumnMapText, columnKey, formatMap } from "../../src/csv/ColumnMap.ts"

const parse = (text: string) => Result.map(parseInput(ColumnMapText)(text), (map) => Object.fromEntries(map))

it.each<[string, Record<string, string>]>([
  ["E-Mail=email,NPI Number=npi", { "e-mail": "email", "npi number": "npi" }],
  ["Name, first=first_name,Last  Name = Last Name", { "name, first": "first_name", "last name": "last_name" }],
  ["a=b=email", { "a=b": "email" }],
  ['"x=npi,y"=email,"say ""hi"""=npi', { "x=npi,y": "email", 'say "hi"': "npi" }],
  ["column 3=EMAIL,", { "column 3": "email" }],
])("reads %j", (text, map) => {
  expect(parse(text)).toEqual(Result.succeed(map))
})

it("reads the output of formatMap with any column names", () => {
  const title = fc
    .stringMatching(/^\p{L}[\p{L}\d _.()#/"'$`\\!=,-]{0,20}$/u)
    .filter((text) => columnKey(text) === text.toLowerCase())
  fc.assert(
    fc.property(fc.uniqueArray(title, { minLength: 2, maxLength: 2, selector: columnKey }), ([one, other]) => {
      const text = formatMap([
        [one!, "npi"],
        [other!, "email"],
      ])
      expect(parse(text)).toEqual(Result.succeed({ [columnKey(one!)]: "npi", [columnKey(other!)]: "email" }))
    }),
  )
})
