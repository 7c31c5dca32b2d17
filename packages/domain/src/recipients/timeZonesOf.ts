import { Result } from "effect"
import type { RecipientFields } from "./RecipientFields.ts"

/** The fields that say where a recipient is. */
export const PLACE_FIELDS = ["time_zone", "state"] as const

/**
 * Returns the time zones that a recipient may be in: that of the field `time_zone`, or else those of the field `state`; undefined without
 * either. It fails with the reason if the field names none, and repeats no value.
 */
export const timeZonesOf = (fields: RecipientFields): Result.Result<ReadonlyArray<string> | undefined, string> => {
  const { time_zone: timeZone, state } = fields
  if (timeZone !== undefined) {
    const name = timeZone.trim()
    return isTimeZone(name)
      ? Result.succeed([name])
      : Result.fail("the time_zone is not a name of the IANA time zone database, such as America/New_York")
  }
  if (state === undefined) return Result.succeed(undefined)
  const timeZones = stateTimeZones(state)
  return timeZones === undefined
    ? Result.fail("the state is not one of the United States or their territories, such as NY or New York")
    : Result.succeed(timeZones)
}

// Abbreviations and offsets mean other time zones to PostgreSQL than to ECMA-402, and people say EST in summer, too.
const NAME = /^[A-Za-z_-]+(\/[\w+-]+)+$|^UTC$/

const isTimeZone = (timeZone: string): boolean => {
  if (!NAME.test(timeZone) || timeZone.length > 64) return false
  try {
    new Intl.DateTimeFormat("en", { timeZone })
    return true
  } catch {
    return false
  }
}

const eastern = ["America/New_York"] as const
const central = ["America/Chicago"] as const
const mountain = ["America/Denver"] as const
const pacific = ["America/Los_Angeles"] as const
const easternAndCentral = [...eastern, ...central] as const
const centralAndMountain = [...central, ...mountain] as const

/**
 * The time zones of the states and territories of the United States, by postal code: enough of the IANA zones that each clock of the state is
 * one of theirs at any time from 2026 on.
 *
 * Sources: the boundaries of the standard time zones, 49 CFR Part 71; the territories, 15 U.S.C. 261 and 263; who keeps daylight saving time,
 * zone1970.tab and the file northamerica of the IANA time zone database. Postal codes: USPS Publication 28, Appendix B.
 */
const TIME_ZONES: Readonly<Record<string, readonly [name: string, timeZones: ReadonlyArray<string>]>> = {
  AL: ["Alabama", central],
  AK: ["Alaska", ["America/Anchorage", "America/Adak"]],
  // The Navajo Nation keeps daylight saving time.
  AZ: ["Arizona", ["America/Phoenix", ...mountain]],
  AR: ["Arkansas", central],
  CA: ["California", pacific],
  CO: ["Colorado", mountain],
  CT: ["Connecticut", eastern],
  DE: ["Delaware", eastern],
  DC: ["District of Columbia", eastern],
  FL: ["Florida", easternAndCentral],
  GA: ["Georgia", eastern],
  HI: ["Hawaii", ["Pacific/Honolulu"]],
  ID: ["Idaho", [...mountain, ...pacific]],
  IL: ["Illinois", central],
  IN: ["Indiana", easternAndCentral],
  IA: ["Iowa", central],
  KS: ["Kansas", centralAndMountain],
  KY: ["Kentucky", easternAndCentral],
  LA: ["Louisiana", central],
  ME: ["Maine", eastern],
  MD: ["Maryland", eastern],
  MA: ["Massachusetts", eastern],
  MI: ["Michigan", easternAndCentral],
  MN: ["Minnesota", central],
  MS: ["Mississippi", central],
  MO: ["Missouri", central],
  MT: ["Montana", mountain],
  NE: ["Nebraska", centralAndMountain],
  // West Wendover keeps mountain time.
  NV: ["Nevada", [...pacific, ...mountain]],
  NH: ["New Hampshire", eastern],
  NJ: ["New Jersey", eastern],
  NM: ["New Mexico", mountain],
  NY: ["New York", eastern],
  NC: ["North Carolina", eastern],
  ND: ["North Dakota", centralAndMountain],
  OH: ["Ohio", eastern],
  OK: ["Oklahoma", central],
  OR: ["Oregon", [...pacific, ...mountain]],
  PA: ["Pennsylvania", eastern],
  RI: ["Rhode Island", eastern],
  SC: ["South Carolina", eastern],
  SD: ["South Dakota", centralAndMountain],
  TN: ["Tennessee", easternAndCentral],
  TX: ["Texas", centralAndMountain],
  UT: ["Utah", mountain],
  VT: ["Vermont", eastern],
  VA: ["Virginia", eastern],
  WA: ["Washington", pacific],
  WV: ["West Virginia", eastern],
  WI: ["Wisconsin", central],
  WY: ["Wyoming", mountain],
  AS: ["American Samoa", ["Pacific/Pago_Pago"]],
  GU: ["Guam", ["Pacific/Guam"]],
  MP: ["Northern Mariana Islands", ["Pacific/Guam"]],
  PR: ["Puerto Rico", ["America/Puerto_Rico"]],
  VI: ["Virgin Islands", ["America/Puerto_Rico"]],
}

const byName = new Map(
  Object.entries(TIME_ZONES).flatMap(([code, [name, timeZones]]) => [
    [code.toLowerCase(), timeZones] as const,
    [name.toLowerCase(), timeZones] as const,
  ]),
)

/** Returns the time zones of a state or territory by its postal code or its name, in any case and with or without dots; undefined if it is neither. */
const stateTimeZones = (state: string): ReadonlyArray<string> | undefined =>
  byName.get(
    state
      .trim()
      .toLowerCase()
      .replaceAll(".", "")
      .replaceAll(/\s+/g, " ")
      .replace(/^us virgin/, "virgin"),
  )
