import { Result } from "effect"
import type { RecipientFields } from "./RecipientFields.ts"
import { stateTimeZones } from "./stateTimeZones.ts"

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

/** Parsing a name takes longer than a line of an import, and there are few names. */
const known = new Map<string, boolean>()

// Abbreviations and offsets mean other time zones to PostgreSQL than to ECMA-402, and people say EST in summer, too.
const NAME = /^[A-Za-z_-]+(\/[\w+-]+)+$|^UTC$/

const isTimeZone = (name: string): boolean => {
  if (!NAME.test(name) || name.length > 64) return false
  const before = known.get(name)
  if (before !== undefined) return before
  const isKnown = isIanaName(name)
  if (known.size < 1000) known.set(name, isKnown)
  return isKnown
}

const isIanaName = (timeZone: string): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone })
    return true
  } catch {
    return false
  }
}
