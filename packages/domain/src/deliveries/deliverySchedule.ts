import { type Schedule, schedule } from "@outreach/retry-policy"

/** The delays of the specification: 7 attempts over 31.2 hours. Source: Outreach Partner API specification, Events, Delivery rules, 4. */
export const SPECIFIED_DELAYS = "30s,2m,10m,1h,6h,24h"

export const SPECIFIED_SCHEDULE: Schedule = schedule(SPECIFIED_DELAYS)

const MAX_DELAYS = 20
const MAX_DELAY_MS = 7 * 86_400_000

/** Reads the delays between the attempts at a delivery, such as `SPECIFIED_DELAYS`: 1–20, each at most 7 days. Throws `RangeError`, which names the bad one. */
export const parseDeliverySchedule = (text: string): Schedule => {
  const parsed = schedule(text)
  if (parsed.delays.length > MAX_DELAYS) throw new RangeError(`a schedule has at most ${MAX_DELAYS} delays`)
  const long = parsed.delays.findIndex((delay) => delay > MAX_DELAY_MS)
  if (long >= 0) throw new RangeError(`delay ${long + 1} is longer than 7d`)
  return parsed
}
