import { CampaignId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Timestamp"
import { parseInput } from "@outreach/domain/textSchema"
import { Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { count, cursorOf, headingsOf, list, text } from "../../src/operations/List.ts"

describe("the cursor of a list", () => {
  const ID = `cmp_${"0".repeat(12)}7${"0".repeat(3)}8${"0".repeat(15)}`
  const { schema, toText } = cursorOf({ at: Instant, campaign: CampaignId, event: Schema.NonEmptyString })
  const read = parseInput(schema)

  it("is read as it was written, with any text at its end", () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2100") }),
        fc.string(),
        (date, end) => {
          const row = { at: `${date.toISOString().slice(0, -1)}000Z`, campaign: ID, event: `event,${end}` }
          expect(Result.getOrThrow(read(toText(row)))).toEqual(row)
        },
      ),
    )
  })

  it("is rejected if a part is missing or not valid", () => {
    for (const text of ["x", `2026-12-01T09:00:00Z,${ID}`, `,${ID},event`, "2026-12-01T09:00:00Z,cmp_1,event"]) {
      expect(Result.isFailure(read(text))).toBe(true)
    }
  })
})

describe("a list that is read at once", () => {
  const rows = [
    { name: "Oslo", size: 3 },
    { name: "bergen", size: 12 },
    { name: "Åsgard", size: null },
  ]
  const cities = list("cities list", {
    about: "List cities",
    read: () => Effect.succeed(rows),
    columns: { name: { ...text("City"), sort: "asc" }, size: { ...count("Size"), sort: "desc" } },
    empty: "None.",
    filledBy: null,
  })
  const read = (sort: string | undefined, after: string | null = null, limit = 9) =>
    Effect.runSync(
      Effect.map(cities.read({ sort } as object, { limit, after }), ({ rows, next }) => ({
        ...{ names: rows.map(({ name }) => name), next },
      })),
    )

  it("is sorted by a column in both directions, with missing values at the end, and continues in that order", () => {
    expect(read(undefined).names).toEqual(["Oslo", "bergen", "Åsgard"])
    expect(read("name-asc").names).toEqual(["Åsgard", "bergen", "Oslo"])
    expect(read("size-asc").names).toEqual(["Oslo", "bergen", "Åsgard"])
    const { names, next } = read("size-desc", null, 1)
    expect(names).toEqual(["bergen"])
    expect(read("size-desc", next).names).toEqual(["Oslo", "Åsgard"])
    expect(() => read("name-asc", next)).toThrow("start again at the first page")
  })

  it("has headings with the current order, which choose the other direction, or a column's first one", () => {
    expect(headingsOf(cities, "size-desc")).toEqual({
      City: { order: undefined, next: "name-asc" },
      Size: { order: "descending", next: "size-asc" },
    })
  })
})
