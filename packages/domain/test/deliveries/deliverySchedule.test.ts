import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import {
  describeSchedule,
  formatRetryDelays,
  maxAttemptsOf,
  parseDeliverySchedule,
  RetryDelays,
  SPECIFIED_DELAYS,
  SPECIFIED_SCHEDULE,
  scheduleOf,
  toRetryDelays,
} from "../../src/deliveries/deliverySchedule.ts"
import { parseInput } from "../../src/textSchema.ts"

const transient = { verdict: "transient" } as const

it("the specified schedule makes the attempts of the specification's table, at its times", () => {
  const SECONDS: Record<string, number> = {
    s: 1,
    min: 60,
    h: 3_600,
    seconds: 1,
    minutes: 60,
    hour: 3_600,
    hours: 3_600,
  }
  const table = readFileSync(new URL("data/deliverySchedule.md", import.meta.url), "utf8")
  const rows = table.trim().split("\n").slice(2)
  const specified = rows.map((row) =>
    row
      .split("|")
      .slice(2, 4)
      .map((cell) => cell.trim().split(" ")),
  )

  const times = [0]
  for (;;) {
    const next = SPECIFIED_SCHEDULE.next({ attempt: times.length, outcome: transient })
    if (!next.retry) {
      expect(next).toEqual({ retry: false, because: "exhausted" })
      break
    }
    times.push(times.at(-1)! + next.delay / 1000)
  }
  expect(times).toHaveLength(7)
  expect(specified).toHaveLength(7)
  specified.forEach(([delay, cumulative], i) => {
    if (i === 0) expect([delay, cumulative, times[i]]).toEqual([["none"], ["0"], 0])
    else {
      expect(times[i]! - times[i - 1]!).toBe(Number(delay![0]) * SECONDS[delay![1]!]!)
      const [value, unit] = cumulative!.slice(-2)
      const digits = value!.split(".")[1]?.length ?? 0
      expect((times[i]! / SECONDS[unit!]!).toFixed(digits)).toBe(value)
    }
  })
})

it("parseDeliverySchedule reads the specification's delays, and 19 of up to 7 days", () => {
  expect(parseDeliverySchedule(SPECIFIED_DELAYS).delays).toEqual(SPECIFIED_SCHEDULE.delays)
  expect(parseDeliverySchedule(Array(19).fill("7d").join()).delays).toEqual(Array(19).fill(604_800_000))
})

describe("the schedule of an endpoint", () => {
  const parse = (text: string) => Result.map(parseInput(RetryDelays)(text), toRetryDelays)

  it("is written as it is read, and has an attempt more than delays", () => {
    const delays = fc.array(fc.integer({ min: 1, max: 604_800 }), { minLength: 1, maxLength: 19 })
    fc.assert(
      fc.property(fc.option(delays), (delays) => {
        const text = formatRetryDelays(delays)
        expect(parse(text)).toMatchObject({ success: delays })
        if (delays !== null) expect(scheduleOf(delays).delays).toEqual(parseDeliverySchedule(text).delays)
      }),
    )
    expect(formatRetryDelays([10, 60, 5400, 86_400, 90_061])).toBe("10s,1m,90m,24h,90061s")
    expect(formatRetryDelays(null)).toBe("default")
  })

  it("is described with its attempts, and as the default where it is the deployment's", () => {
    expect(describeSchedule([10, 60], SPECIFIED_SCHEDULE)).toBe("3 attempts: 10s,1m")
    expect(describeSchedule(null, parseDeliverySchedule("0s,500ms"))).toBe("3 attempts: 0s,0.5s (default)")
    expect(describeSchedule(null, SPECIFIED_SCHEDULE)).toBe("7 attempts: 30s,2m,10m,1h,6h,24h (default)")
  })

  it.each([
    ["", 'delay 1, "", is not'],
    ["none", 'delay 1, "none", is not'],
    ["10s,0s", "delay 2 is not a whole number of seconds from 1"],
    ["1500ms", "delay 1 is not a whole number of seconds from 1"],
    ["10s,8d", "delay 2 is longer than 7d"],
    [Array(20).fill("10s").join(), "a schedule has at most 20 attempts, so 19 delays"],
  ])("refuses %j", (text, reason) => {
    expect(parse(text)).toMatchObject({ failure: { reason: expect.stringContaining(reason) } })
  })
})

it("the last attempt at a delivery is the schedule's, or the next one where more were made under a longer schedule, and none once it has ended", () => {
  for (const state of ["pending", "sending"] as const) {
    expect([0, 3, 6, 7, 9].map((attempts) => maxAttemptsOf({ state, attempts }, Array(6).fill(1)))).toEqual([
      7, 7, 7, 8, 10,
    ])
  }
  expect(maxAttemptsOf({ state: "exhausted", attempts: 7 }, [1])).toBeNull()
})
