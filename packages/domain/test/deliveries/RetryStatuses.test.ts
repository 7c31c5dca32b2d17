import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { formatRetryStatuses, RetryStatuses, toRetryStatuses } from "../../src/deliveries/Endpoint.ts"
import { parseInput } from "../../src/textSchema.ts"

const parse = (text: string) => Result.map(parseInput(RetryStatuses)(text), toRetryStatuses)

describe("the statuses that an endpoint names", () => {
  it("are written as they are read", () => {
    const statuses = fc.uniqueArray(fc.integer({ min: 400, max: 599 }), { maxLength: 31 })
    fc.assert(
      fc.property(statuses, fc.boolean(), (given, disableOnGone) => {
        const retryStatuses = given.filter((status) => !(disableOnGone && status === 410)).sort((a, b) => a - b)
        const settings = { retryStatuses, disableOnGone }
        expect(parse(formatRetryStatuses(settings))).toMatchObject({ success: settings })
      }),
    )
    expect(formatRetryStatuses({ retryStatuses: [408, 503], disableOnGone: true })).toBe("408,503,410=disable")
    expect(formatRetryStatuses({ retryStatuses: [], disableOnGone: false })).toBe("none")
  })

  it("may be given in any order, with spaces, and twice", () => {
    expect(parse("429, 408 ,429,410=disable")).toMatchObject({
      success: { retryStatuses: [408, 429], disableOnGone: true },
    })
  })

  it.each([
    ["200", "200 is a success"],
    ["408,302", "302 is always tried again"],
    ["301", "301 is always tried again"],
    ["100", "100 is always tried again"],
    ["404=disable", "only 410 can disable the endpoint"],
    ["503=disable", "only 410 can disable the endpoint"],
    ["410,410=disable", "410 is either tried again, or disables the endpoint"],
    ["4xx", '"4xx" is not a status'],
    ["", '"" is not a status'],
    ["408,", '"" is not a status'],
    ["-408", '"-408" is not a status'],
    ["600", '"600" is not a status'],
    ["4080", '"4080" is not a status'],
    ["none,408", '"none" is not a status'],
    [Array.from({ length: 33 }, (_, i) => 400 + i).join(), "there are more than 32 statuses"],
  ])("are not %j", (text, reason) => {
    expect(parse(text)).toMatchObject({ failure: { reason } })
  })
})
