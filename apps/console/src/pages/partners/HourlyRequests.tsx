import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import type { HourlyRequests as HourlyCount } from "@outreach/postgres/organizations/PartnerActivity"
import { Histogram, type Series } from "../../components/charts/Histogram.tsx"

const HOUR_MS = 3_600_000

/** How the API answered in each hour, by what `seriesOf` makes of the code of the error. */
export const HourlyRequests = (props: {
  readonly title: string
  readonly rows: ReadonlyArray<HourlyCount>
  readonly hours: number
  /** Unix milliseconds. */
  readonly now: number
  readonly series: ReadonlyArray<Series>
  /** Returns the name of a series. */
  readonly seriesOf: (code: string) => string
  readonly empty: string
}) => {
  const hours = new Map<Timestamp, Record<string, number>>()
  for (const { hour, code, requests } of props.rows) {
    const counts = hours.get(hour) ?? {}
    const name = props.seriesOf(code)
    hours.set(hour, { ...counts, [name]: (counts[name] ?? 0) + requests })
  }
  const to = Math.ceil(props.now / HOUR_MS) * HOUR_MS
  return (
    <Histogram
      title={props.title}
      series={props.series}
      buckets={[...hours].map(([hour, counts]) => ({ at: toUnixMillis(hour), counts }))}
      bucketMs={HOUR_MS}
      from={to - props.hours * HOUR_MS}
      to={to}
      empty={props.empty}
    />
  )
}
