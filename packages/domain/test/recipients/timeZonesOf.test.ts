import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { timeZonesOf } from "../../src/recipients/timeZonesOf.ts"

describe("where a recipient is", () => {
  it.each([
    [{ time_zone: "America/New_York" }, ["America/New_York"]],
    [{ time_zone: " America/Argentina/Ushuaia " }, ["America/Argentina/Ushuaia"]],
    [{ time_zone: "Etc/GMT+5" }, ["Etc/GMT+5"]],
    [{ time_zone: "UTC" }, ["UTC"]],
    [{ state: "NY" }, ["America/New_York"]],
    [{ state: " new  york " }, ["America/New_York"]],
    [{ state: "D.C." }, ["America/New_York"]],
    [{ state: "U.S. Virgin Islands" }, ["America/Puerto_Rico"]],
    [{ state: "TN" }, ["America/New_York", "America/Chicago"]],
    [{ state: "Ontario", time_zone: "America/Toronto" }, ["America/Toronto"]],
    [{ first_name: "Ada" }, undefined],
  ])("is known by the fields %j", (fields, timeZones) => {
    expect(timeZonesOf(fields)).toEqual(Result.succeed(timeZones))
  })

  it.each([
    "EST",
    "PST8PDT",
    "+05:00",
    "America/Gotham",
    "America/New York",
    "Eastern",
    "../etc",
    `A/${"x".repeat(99)}`,
  ])("is not known by the time zone %j", (time_zone) => {
    const reason = "the time_zone is not a name of the IANA time zone database, such as America/New_York"
    expect(timeZonesOf({ time_zone, state: "NY" })).toEqual(Result.fail(reason))
  })

  it.each(["XX", "Ontario", "New", "constructor"])("is not known by the state %j", (state) => {
    const reason = "the state is not one of the United States or their territories, such as NY or New York"
    expect(timeZonesOf({ state })).toEqual(Result.fail(reason))
  })
})
