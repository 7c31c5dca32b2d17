import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FieldNames, FieldNamesOrAll, fieldNameOf, RecipientFields } from "../../src/recipients/RecipientFields.ts"
import { parseInput } from "../../src/textSchema.ts"

describe("the name of a field", () => {
  it.each([
    ["first_name", "first_name"],
    ["First Name", "first_name"],
    [" last-name ", "last_name"],
    ["Address / 2nd line", "address_2nd_line"],
  ])("is made of the column %j", (column, name) => {
    expect(fieldNameOf(column)).toEqual(Result.succeed(name))
  })

  it.each([
    ["token", "the name has another meaning already"],
    ["Program Name", "the name has another meaning already"],
    ["short_link", "the name has another meaning already"],
    ["email", "the name has another meaning already"],
    ["contains", "the name has another meaning already"],
    ["__proto__", "the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first"],
    ["2nd phone", "the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first"],
    ["Prénom", "the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first"],
    ["", "the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first"],
    ["a".repeat(41), "the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first"],
  ])("is not made of the column %j", (column, reason) => {
    expect(fieldNameOf(column)).toEqual(Result.fail(reason))
  })

  it("is in a list without duplicates", () => {
    expect(parseInput(FieldNames)("first_name, Specialty,first_name")).toEqual(
      Result.succeed(["first_name", "specialty"]),
    )
    expect(Result.isFailure(parseInput(FieldNames)("first_name,,x"))).toBe(true)
    expect(Result.isFailure(parseInput(FieldNames)("all"))).toBe(true)
    expect(parseInput(FieldNamesOrAll)("all")).toEqual(Result.succeed("all"))
    expect(parseInput(FieldNamesOrAll)("state")).toEqual(Result.succeed(["state"]))
  })
})

describe("RecipientFields", () => {
  const parse = parseInput(RecipientFields)
  const reason = (fields: RecipientFields) => Result.getOrUndefined(Result.flip(parse(fields)))?.reason
  const bytes = (fields: Record<string, string>) => Buffer.byteLength(JSON.stringify(fields))

  it("accepts any text of at most 2 KB, with tabs and line ends", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 300 }).filter((value) => !/[\p{Cc}\uFFFD]/u.test(value))
    fc.assert(
      fc.property(text, text, (first_name, notes) => {
        const fields = { first_name, notes: `${notes}\t\r\n` }
        expect(reason(fields) === undefined).toBe(bytes(fields) <= 2048)
      }),
    )
  })

  it("counts bytes, not characters", () => {
    const longest = "é".repeat((2048 - bytes({ n: "" })) / 2)
    expect(reason({ n: longest })).toBeUndefined()
    expect(reason({ n: `${longest}a` })).toBe("the fields take 2049 bytes, and 2048 is the most")
  })

  it.each(["\0", "\u001B[31m", "\u007F", "\u0085", "caf\uFFFD"])("refuses %j without repeating it", (value) => {
    expect(reason({ first_name: "Ada", last_name: value })).toBe(
      "the field last_name contains a control character, or isn't UTF-8",
    )
  })
})
