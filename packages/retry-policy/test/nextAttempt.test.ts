import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nextAttempt } from "../src/nextAttempt.ts"
import { type Schedule, SPECIFIED_SCHEDULE } from "../src/schedule.ts"

const transient = { verdict: "transient" } as const
const NOW = 1_780_000_000.25

/** Lists the times of all attempts of a delivery that always fails for now. */
function timesOfAttempts(schedule: Schedule, start: number): number[] {
  const times = [start]
  for (;;) {
    const next = nextAttempt(schedule, times.length, transient, times.at(-1)!)
    if (next.state !== "retry") {
      expect(next).toEqual({ state: "dead_letter", reason: "exhausted" })
      return times
    }
    times.push(next.at)
  }
}

const anySchedule = fc.array(fc.integer({ min: 0, max: 604_800 }), { maxLength: 20 })

describe("nextAttempt", () => {
  it("makes the attempts of the specification's table, at its times", () => {
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

    const times = timesOfAttempts(SPECIFIED_SCHEDULE, 0)
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

  it("waits the delay that follows the attempt", () => {
    expect(nextAttempt(SPECIFIED_SCHEDULE, 1, transient, NOW)).toEqual({ state: "retry", delay: 30, at: NOW + 30 })
    expect(nextAttempt(SPECIFIED_SCHEDULE, 6, transient, NOW)).toEqual({
      state: "retry",
      delay: 86_400,
      at: NOW + 86_400,
    })
  })

  it("makes one attempt more than the schedule has delays, never further and never back in time", () => {
    fc.assert(
      fc.property(anySchedule, fc.integer({ min: 0, max: 4e9 }), (schedule, start) => {
        const times = timesOfAttempts(schedule, start)
        expect(times).toHaveLength(schedule.length + 1)
        times.forEach((time, i) => {
          expect(time).toBe(start + schedule.slice(0, i).reduce((sum, delay) => sum + delay, 0))
        })
      }),
    )
  })

  it("sends a refusal to the dead letters at any attempt", () => {
    fc.assert(
      fc.property(anySchedule, fc.integer({ min: 1, max: 100 }), (schedule, attempt) => {
        expect(nextAttempt(schedule, attempt, { verdict: "permanent" }, NOW)).toEqual({
          state: "dead_letter",
          reason: "rejected",
        })
      }),
    )
  })

  it("is done after a delivery, also by the last attempt and beyond it", () => {
    for (const attempt of [1, 7, 8]) {
      expect(nextAttempt(SPECIFIED_SCHEDULE, attempt, { verdict: "delivered" }, NOW)).toEqual({ state: "done" })
    }
  })

  it("is exhausted past the end of a schedule that was shortened meanwhile", () => {
    expect(nextAttempt([30], 5, transient, NOW)).toEqual({ state: "dead_letter", reason: "exhausted" })
  })

  it("makes a single attempt without delays", () => {
    expect(nextAttempt([], 1, transient, NOW)).toEqual({ state: "dead_letter", reason: "exhausted" })
  })

  it("takes fractions of a second, as a client's backoff has them", () => {
    expect(nextAttempt([0.5, 1], 1, transient, 10)).toEqual({ state: "retry", delay: 0.5, at: 10.5 })
  })

  it("refuses an attempt, a time or a delay that is not such a number", () => {
    for (const attempt of [0, -1, 1.5, Number.NaN]) {
      expect(() => nextAttempt(SPECIFIED_SCHEDULE, attempt, transient, NOW)).toThrow("attempt must be")
    }
    expect(() => nextAttempt(SPECIFIED_SCHEDULE, 1, transient, Number.NaN)).toThrow("now must be")
    for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => nextAttempt([delay], 1, transient, NOW)).toThrow("a delay must be")
    }
  })
})
