import { Result } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import { Ramp } from "../../src/senders/Sender.ts"
import { parseInput } from "../../src/textSchema.ts"

const parse = parseInput(Ramp)

const someRamp = fc
  .array(fc.integer({ min: 1, max: 10_000_000 }), { minLength: 1, maxLength: 90 })
  .map((days) => days.sort((one, other) => one - other))

it("takes whole numbers that never fall, one for each day", () => {
  fc.assert(
    fc.property(someRamp, (days) => {
      expect(parse(days.join(","))).toEqual(Result.succeed(days.join(",")))
    }),
  )
})

it("rejects a day with fewer messages than the day before, at any position", () => {
  fc.assert(
    fc.property(someRamp, fc.nat(), fc.nat(), (days, place, less) => {
      const at = place % days.length
      const falling = [...days.slice(0, at + 1), less % days[at]!, ...days.slice(at + 1)]
      expect(Result.isFailure(parse(falling.join(",")))).toBe(true)
    }),
  )
})

it.each([
  ...["", "0", "200,0", "abc", "200,,400", "200,", "-1", "1.5", "1e3", "200, 400", "10000001"],
  `${"1,".repeat(90)}1`,
])("refuses %j", (ramp) => {
  expect(Result.isFailure(parse(ramp))).toBe(true)
})
