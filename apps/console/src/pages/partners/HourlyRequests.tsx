import type { HourlyRequests as HourlyCount } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Histogram, HOUR_MS, type Series } from "../../components/charts/Histogram.tsx"
import { useView } from "../../components/View.ts"

export const SHOWN_HOURS = 48

/** How requests of a kind are told apart: by the code of their error, which is empty for none. */
interface Kind {
  readonly words: string
  readonly series: Series
  readonly seriesOf: (code: string) => string
}

export const KEY_REQUESTS: Kind = {
  words: "Requests with a key",
  series: { answered: "good", "over the limit": "warning", "other errors": "bad" },
  seriesOf: (code) => (code === "" ? "answered" : code === "RATE_LIMITED" ? "over the limit" : "other errors"),
}

export const INBOUND_WEBHOOKS: Kind = {
  words: "Webhooks from the partner",
  series: { accepted: "good", "bad signature": "bad", "refused otherwise": "warning" },
  seriesOf: (code) => (code === "" ? "accepted" : code === "INVALID_SIGNATURE" ? "bad signature" : "refused otherwise"),
}

export const HourlyRequests = (props: {
  readonly kind: Kind
  readonly rows: ReadonlyArray<HourlyCount>
  readonly empty: string
}) => {
  const { words, series, seriesOf } = props.kind
  const hours = new Map<Timestamp, Record<string, number>>()
  for (const { hour, code, requests } of props.rows) {
    const counts = hours.get(hour) ?? {}
    const name = seriesOf(code)
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
