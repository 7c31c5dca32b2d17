import { SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import type { Html } from "./html.ts"
import { table } from "./layout.ts"

/** The attempts of a delivery and the waits between them. */
export const deliverySchedule = (): Html =>
  table(
    "Attempts of a delivery",
    ["attempt", "after the one before", "since the first"],
    [
      ["1", "at once", "0"],
      ...SPECIFIED_SCHEDULE.map((delay, i) => [
        `${i + 2}`,
        duration(delay),
        duration(SPECIFIED_SCHEDULE.slice(0, i + 1).reduce((sum, one) => sum + one)),
      ]),
    ],
  )

const UNITS = [
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const

const duration = (seconds: number): string => {
  const [unit, length] = UNITS.find(([, size]) => seconds >= size)!
  const count = Math.round((seconds / length) * 10) / 10
  return `${count * length === seconds ? "" : "about "}${count} ${unit}${count === 1 ? "" : "s"}`
}
