import fc from "fast-check"
import { describe, expect, it, vi } from "vitest"
import { parseRetryAfter } from "../src/parseRetryAfter.ts"

const NOW = Date.UTC(2026, 10, 23, 5)
const imf = (date: Date) => date.toUTCString()
const rfc850 = (date: Date) => {
  const [, day, month, year, time] = date.toUTCString().split(" ")
  const weekday = date.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" })
  return `${weekday}, ${day}-${month}-${year!.slice(2)} ${time} GMT`
}
const asctime = (date: Date) => {
  const [weekday, day, month, year, time] = date.toUTCString().split(" ")
  return `${weekday!.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
}
const anyForm = fc.constantFrom(imf, rfc850, asctime)
const anyMoment = fc.integer({ min: Date.UTC(2000) / 1000, max: Date.UTC(2049) / 1000 })

describe("parseRetryAfter", () => {
  it.each([
    ["120", 120_000],
    ["0", 0],
    ["1.5", 1500],
  ])("reads %s seconds", (text, milliseconds) => {
    expect(parseRetryAfter(text)).toBe(milliseconds)
  })

  it("reads a date in each form of HTTP's, from the present that it is given", () => {
    fc.assert(
      fc.property(anyMoment, fc.integer({ min: 0, max: 90_000 }), anyForm, (at, seconds, write) => {
        const value = write(new Date((at + seconds) * 1000))
        expect(parseRetryAfter(value, { now: () => at * 1000 })).toBe(seconds * 1000)
      }),
    )
  })

  it("takes a date without a zone for UTC, wherever the machine is", () => {
    vi.stubEnv("TZ", "Asia/Tokyo")
    expect(new Date(NOW).getTimezoneOffset()).toBe(-540)
    expect(parseRetryAfter(asctime(new Date(NOW + 60_000)), { now: () => NOW })).toBe(60_000)
  })

  it("counts a date from the response's own Date, however wrong this machine's clock is", () => {
    fc.assert(
      fc.property(anyMoment, fc.integer(), anyForm, anyForm, (at, now, write, writeDate) => {
        const value = write(new Date((at + 90) * 1000))
        expect(parseRetryAfter(value, { date: writeDate(new Date(at * 1000)), now: () => now })).toBe(90_000)
      }),
    )
  })

  it("counts from the present where the response's Date is not one", () => {
    const value = imf(new Date(NOW + 60_000))
    for (const date of [null, undefined, "", "yesterday", "Mon, 99 Nov 2026 05:00:00 GMT"]) {
      expect(parseRetryAfter(value, { date, now: () => NOW })).toBe(60_000)
    }
    expect(parseRetryAfter(value)).toBeUndefined()
  })

  it("waits no longer for a date that has passed", () => {
    expect(parseRetryAfter(imf(new Date(NOW - 60_000)), { now: () => NOW })).toBe(0)
  })

  it.each([
    ...[null, undefined, "", " ", "-5", "+5", "5s", "soon", "1e3", "0x10", "1.2.3", "5, 6", "NaN", "Infinity"],
    ...["2026-11-23", "2026-11-23T06:00:00Z", "Mon, 99 Nov 2026 05:00:00 GMT", "Tomorrow 5"],
  ])("finds nothing in %j", (value) => {
    expect(parseRetryAfter(value, { now: () => NOW })).toBeUndefined()
  })

  it("returns undefined or a wait that is not negative, for any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, date) => {
        expect(parseRetryAfter(value, { date, now: () => NOW }) ?? 0).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
