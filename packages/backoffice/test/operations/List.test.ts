import { CampaignId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Timestamp"
import { parseInput } from "@outreach/domain/textSchema"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cursorOf } from "../../src/operations/List.ts"

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
