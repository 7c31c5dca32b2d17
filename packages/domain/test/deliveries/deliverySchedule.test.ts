import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { parseDeliverySchedule, SPECIFIED_DELAYS, SPECIFIED_SCHEDULE } from "../../src/deliveries/deliverySchedule.ts"

const transient = { verdict: "transient" } as const

describe("the specified schedule", () => {
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
})

describe("parseDeliverySchedule", () => {
  it("reads the specification's delays, and 20 of up to 7 days", () => {
    expect(parseDeliverySchedule(SPECIFIED_DELAYS).delays).toEqual(SPECIFIED_SCHEDULE.delays)
    expect(parseDeliverySchedule(Array(20).fill("7d").join()).delays).toEqual(Array(20).fill(604_800_000))
  })

  it.each([
    ["", 'delay 1, "", is not'],
    [Array(21).fill("1s").join(), "a schedule has at most 20 delays"],
    ["30s,8d", "delay 2 is longer than 7d"],
  ])("refuses %j", (text, message) => {
    expect(() => parseDeliverySchedule(text)).toThrow(new RangeError(message).message)
    expect(() => parseDeliverySchedule(text)).toThrow(RangeError)
  })
})
