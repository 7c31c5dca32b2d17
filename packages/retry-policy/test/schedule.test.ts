import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { formatSchedule, parseSchedule, SPECIFIED_SCHEDULE } from "../src/schedule.ts"

describe("parseSchedule", () => {
  it("reads the specification's schedule", () => {
    expect(parseSchedule("30s,2m,10m,1h,6h,24h")).toEqual(SPECIFIED_SCHEDULE)
  })

  it("reads every unit, a retry at once, and spaces around a delay", () => {
    expect(parseSchedule(" 0s, 1s ,1m,1h,1d,7d")).toEqual([0, 1, 60, 3_600, 86_400, 604_800])
  })

  it.each([
    ["", 'delay 1, "", is not a whole number and a unit of s, m, h or d, such as 30s'],
    ["30s,,2m", 'delay 2, "", is not'],
    ["30s,2m,", 'delay 3, "", is not'],
    ["30s,2 m", 'delay 2, "2 m", is not'],
    ["30s,2M", 'delay 2, "2M", is not'],
    ["30", 'delay 1, "30", is not'],
    ["m", 'delay 1, "m", is not'],
    ["-30s", 'delay 1, "-30s", is not'],
    ["1.5h", 'delay 1, "1.5h", is not'],
    ["1e3s", 'delay 1, "1e3s", is not'],
    ["30s;2m", 'delay 1, "30s;2m", is not'],
    ["30s,8d", 'delay 2, "8d", is longer than 7d'],
    ["604801s", 'delay 1, "604801s", is longer than 7d'],
    ["9".repeat(50), `delay 1, "${"9".repeat(20)}", is not`],
  ])("refuses %j and names the bad part", (text, message) => {
    expect(() => parseSchedule(text)).toThrow(RangeError)
    expect(() => parseSchedule(text)).toThrow(message)
  })

  it("takes twenty delays and no more", () => {
    expect(parseSchedule(Array(20).fill("1s").join(","))).toHaveLength(20)
    expect(() => parseSchedule(Array(21).fill("1s").join(","))).toThrow("a schedule has at most 20 delays")
  })

  it("answers any text with a schedule within the bounds or a RangeError", () => {
    const nearly = fc.string({ unit: fc.constantFrom(..."0123456789smhd, .-".split("")), maxLength: 30 })
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (text) => {
        try {
          for (const delay of parseSchedule(text)) {
            expect(Number.isInteger(delay)).toBe(true)
            expect(delay).toBeGreaterThanOrEqual(0)
            expect(delay).toBeLessThanOrEqual(604_800)
          }
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

describe("formatSchedule", () => {
  it("writes each delay in the largest unit that divides it", () => {
    expect(formatSchedule([0, 30, 90, 120, 3_600, 86_400, 90_000])).toBe("0s,30s,90s,2m,1h,1d,25h")
  })

  it("writes what parseSchedule reads back", () => {
    const schedules = fc.array(fc.integer({ min: 0, max: 604_800 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(schedules, (schedule) => {
        expect(parseSchedule(formatSchedule(schedule))).toEqual(schedule)
      }),
    )
  })

  it("refuses a schedule that cannot be written", () => {
    expect(() => formatSchedule([])).toThrow("a schedule has 1 to 20 delays")
    expect(() => formatSchedule(Array(21).fill(1))).toThrow(RangeError)
    for (const delay of [0.5, -1, 604_801, Number.NaN]) {
      expect(() => formatSchedule([30, delay])).toThrow("delay 2 is not a whole number of seconds")
    }
  })
})
