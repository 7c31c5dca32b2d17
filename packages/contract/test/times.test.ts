import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { CalendarDate, Instant, Since, Timestamp } from "../src/index.ts"

describe("Since", () => {
  it.each([
    ["2026-11-21T02:45:29Z", "2026-11-21T02:45:29.000000Z"],
    ["2026-11-21T02:45:29.1Z", "2026-11-21T02:45:29.100000Z"],
    ["2026-11-21T02:45:29.123456Z", "2026-11-21T02:45:29.123456Z"],
    ["2026-11-21t02:45:29.123456z", "2026-11-21T02:45:29.123456Z"],
    ["2026-11-21T02:45:29.123456+02:00", "2026-11-21T00:45:29.123456Z"],
    ["2026-11-21T02:45:29.000001-09:30", "2026-11-21T12:15:29.000001Z"],
    ["2026-11-21T02:45:29+00:00", "2026-11-21T02:45:29.000000Z"],
    ["2026-01-01T00:30:00.999999+01:00", "2025-12-31T23:30:00.999999Z"],
    ["2024-02-29T23:59:59-00:01", "2024-03-01T00:00:59.000000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["0001-01-01T01:00:00+01:00", "0001-01-01T00:00:00.000000Z"],
    ["0099-12-31T23:59:59-00:01", "0100-01-01T00:00:59.000000Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
    ["2026-11-21T02:45:29.1234567Z", "2026-11-21T02:45:29.123456Z"],
    ["2026-11-21T02:45:29.123456999Z", "2026-11-21T02:45:29.123456Z"],
  ])("reads %s as %s", (text, utc) => {
    expect(Since.parse(text)).toBe(utc)
  })

  it.each([
    ["", "must be an ISO 8601 date-time"],
    ["yesterday", "must be an ISO 8601 date-time"],
    ["2026-11-21", "must be an ISO 8601 date-time"],
    ["1795229129", "must be an ISO 8601 date-time"],
    ["2026-11-21T02:45Z", "must be an ISO 8601 date-time"],
    ["2026-11-21T02:45:29.Z", "must be an ISO 8601 date-time"],
    ["2026-11-21T02:45:29+0200", "must be an ISO 8601 date-time"],
    ["2026-11-21T02:45:29Z\n", "must be an ISO 8601 date-time"],
    [" 2026-11-21T02:45:29Z", "must be an ISO 8601 date-time"],
    ["12026-11-21T02:45:29Z", "must be an ISO 8601 date-time"],
    ["2026-11-21T02:45:29", "must end in Z or an offset"],
    ["2026-11-21T02:45:29.123456", "must end in Z or an offset"],
    ["2026-11-21T02:45:29.1234567890Z", "at most 9 fraction digits"],
    ["2026-02-29T00:00:00Z", "must be a date and time that exist"],
    ["2026-13-01T00:00:00Z", "must be a date and time that exist"],
    ["2026-11-21T24:00:00Z", "must be a date and time that exist"],
    ["2026-11-21T23:59:60Z", "must be a date and time that exist"],
    ["2026-11-21T02:45:29+24:00", "must have an offset that exists"],
    ["2026-11-21T02:45:29+02:60", "must have an offset that exists"],
    ["0000-12-31T23:59:59Z", "years 0001 to 9999"],
    ["0001-01-01T00:59:59+01:00", "years 0001 to 9999"],
    ["9999-12-31T23:00:00-01:00", "years 0001 to 9999"],
    ["2026-11-21T02:45:29 02:00", "unescaped +"],
    ["2026-11-21T02:45:29.123456 02:00", "unescaped +"],
  ])("refuses %j, saying %j", (text, message) => {
    expect(Since.safeParse(text).error?.issues[0]?.message).toContain(message)
  })

  it("agrees with the calendar on every offset, to the microsecond", () => {
    const instant = fc.record({
      millis: fc.integer({ min: Date.UTC(2, 0), max: Date.UTC(9998, 0) }).map((at) => Math.floor(at / 1000) * 1000),
      micros: fc.integer({ min: 0, max: 999_999 }).map((at) => String(at).padStart(6, "0")),
      minutesEast: fc.integer({ min: -1439, max: 1439 }),
    })
    fc.assert(
      fc.property(instant, ({ millis, micros, minutesEast }) => {
        const local = new Date(millis + minutesEast * 60_000).toISOString().slice(0, 19)
        const size = Math.abs(minutesEast)
        const offset = `${minutesEast < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`
        expect(Since.parse(`${local}.${micros}${offset}`)).toBe(
          `${new Date(millis).toISOString().slice(0, 19)}.${micros}Z`,
        )
      }),
    )
  })

  it("reads its own output as itself, and that output is a Timestamp", () => {
    const utc = Since.parse("2026-11-21T02:45:29.12+05:45")
    expect(Since.parse(utc)).toBe(utc)
    expect(Timestamp.parse(utc)).toBe(utc)
  })
})

describe("Timestamp", () => {
  it.each(["2026-11-21T02:45:29.123456Z", "0001-01-01T00:00:00.000000Z"])("accepts %s", (text) => {
    expect(Timestamp.parse(text)).toBe(text)
  })
  it.each([
    ...["2026-11-21T02:45:29Z", "2026-11-21T02:45:29.123Z", "2026-11-21T02:45:29.1234567Z"],
    ...["2026-11-21T02:45:29.123456+00:00", "2026-02-29T02:45:29.123456Z", "0000-11-21T02:45:29.123456Z"],
  ])("refuses %s", (text) => {
    expect(Timestamp.safeParse(text).success).toBe(false)
  })
})

describe("Instant", () => {
  it.each([
    "2026-11-21T02:45:29Z",
    "2026-11-21t02:45:29.5z",
    "2026-11-21T02:45:29.123456789Z",
    "2026-11-21T02:45:29+02:00",
    "2026-11-21T02:45:29-00:00",
  ])("keeps %s", (text) => {
    expect(Instant.parse(text)).toBe(text)
  })
  it.each([
    ...["2026-11-21T02:45:29", "2026-11-21", "2026-11-31T02:45:29Z", "2026-11-21T23:59:60Z"],
    ...["2026-11-21T24:00:00Z", "2026-11-21T02:45:29+24:00", "0000-01-01T00:00:00Z"],
  ])("refuses %s", (text) => {
    expect(Instant.safeParse(text).success).toBe(false)
  })
})

describe("CalendarDate", () => {
  it.each(["2026-11-20", "2024-02-29", "0001-01-01", "9999-12-31"])("accepts %s", (text) => {
    expect(CalendarDate.parse(text)).toBe(text)
  })
  it.each([
    ...["2026-02-29", "2100-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "20261120", "2026-11-20T00:00:00Z"],
    ...["0000-01-01", ""],
  ])("refuses %j", (text) => {
    expect(CalendarDate.safeParse(text).success).toBe(false)
  })
})
