import { textSchema } from "../textSchema.ts"
import type { EndpointSettings } from "./Endpoint.ts"

type RetryStatusSettings = Pick<EndpointSettings, "retryStatuses" | "disableOnGone">

const MAX_STATUSES = 32
const NONE = "none"
const DISABLE = "410=disable"

/** Parses the entries of `RetryStatuses`. Throws `RangeError` that names the invalid one. */
export const toRetryStatuses = (entries: ReadonlyArray<string>): RetryStatusSettings => {
  if (entries.join() === NONE) return { retryStatuses: [], disableOnGone: false }
  if (entries.length > MAX_STATUSES) throw new RangeError(`there are more than ${MAX_STATUSES} statuses`)
  const disableOnGone = entries.includes(DISABLE)
  const retryStatuses = entries.filter((entry) => entry !== DISABLE).map(parseStatus)
  if (disableOnGone && retryStatuses.includes(410)) {
    throw new RangeError("410 is either tried again, or disables the endpoint")
  }
  return { retryStatuses: retryStatuses.toSorted((a, b) => a - b), disableOnGone }
}

/** Statuses after which a delivery is retried and `Retry-After` is honoured, as text of `formatRetryStatuses`. The audit log records its entries. */
export const RetryStatuses = textSchema<ReadonlyArray<string>>(
  `${NONE}, or up to ${MAX_STATUSES} statuses from 400 to 599 such as 408,429,503, of which ${DISABLE} disables the endpoint`,
  (text) => {
    const entries = [...new Set(text.split(",").map((entry) => entry.trim()))]
    toRetryStatuses(entries)
    return entries
  },
)

const parseStatus = (entry: string): number => {
  if (/^\d+=disable$/.test(entry)) throw new RangeError("only 410 can disable the endpoint")
  if (/^2\d\d$/.test(entry)) throw new RangeError(`${entry} is a success`)
  if (/^[13]\d\d$/.test(entry)) throw new RangeError(`${entry} is always tried again`)
  if (!/^[45]\d\d$/.test(entry)) throw new RangeError(`${JSON.stringify(entry.slice(0, 20))} is not a status`)
  return Number(entry)
}

export const formatRetryStatuses = ({ retryStatuses, disableOnGone }: RetryStatusSettings): string =>
  [...retryStatuses, ...(disableOnGone ? [DISABLE] : [])].join() || NONE
