import { CalendarDate as WireDate } from "@outreach/contract"
import { Schema } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { CalendarDate } from "../../src/digest/Digest.ts"

it("accepts the dates of the contract, and no other text", () => {
  const digits = (max: number, length: number) => fc.nat(max).map((value) => String(value).padStart(length, "0"))
  const date = fc.tuple(digits(9999, 4), digits(13, 2), digits(32, 2)).map((parts) => parts.join("-"))
  fc.assert(
    fc.property(fc.oneof(date, fc.constant("0000-01-01"), fc.string()), (text) => {
      expect(Schema.is(CalendarDate)(text)).toBe(WireDate.safeParse(text).success)
    }),
  )
})
