import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import type { HourlyRequests as HourlyCount } from "@outreach/postgres/organizations/PartnerActivity"
import { Histogram, HOUR_MS, type Series } from "../../components/charts/Histogram.tsx"
import { useView } from "../../components/View.ts"

/** For how many hours requests are shown. */
export const SHOWN_HOURS = 48

/** How requests of a kind are told apart: those without an error, those with one error, and those with any other. */
interface Kind {
  readonly words: string
  readonly code: string
  readonly series: readonly [answered: Series, withCode: Series, others: Series]
}

/** Requests with an API key. */
export const KEY_REQUESTS: Kind = {
  words: "Requests with a key",
  code: "RATE_LIMITED",
  series: [
    { name: "answered", color: "var(--good)" },
    { name: "over the limit", color: "var(--warning)" },
    { name: "other errors", color: "var(--bad)" },
  ],
}

/** Webhooks that a partner sends. */
export const INBOUND_WEBHOOKS: Kind = {
  words: "Webhooks from the partner",
  code: "INVALID_SIGNATURE",
  series: [
    { name: "accepted", color: "var(--good)" },
    { name: "bad signature", color: "var(--bad)" },
    { name: "refused otherwise", color: "var(--warning)" },
  ],
}

/** How the API answered in each hour. */
export const HourlyRequests = (props: {
  readonly kind: Kind
  readonly rows: ReadonlyArray<HourlyCount>
  readonly empty: string
}) => {
  const { words, code: ownCode, series } = props.kind
  const hours = new Map<Timestamp, Record<string, number>>()
  for (const { hour, code, requests } of props.rows) {
    const counts = hours.get(hour) ?? {}
    const { name } = code === "" ? series[0] : code === ownCode ? series[1] : series[2]
    hours.set(hour, { ...counts, [name]: (counts[name] ?? 0) + requests })
  }
  const to = Math.ceil(useView().now / HOUR_MS) * HOUR_MS
  return (
    <Histogram
      title={`${words} by the hour, last ${SHOWN_HOURS} hours`}
      series={series}
      buckets={Array.from(hours, ([hour, counts]) => ({ at: toUnixMillis(hour), counts }))}
      from={to - SHOWN_HOURS * HOUR_MS}
      to={to}
      empty={props.empty}
    />
  )
}
