import { type HourlyRequests as HourlyCount, totalOf } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { Array as Arr } from "effect"
import { Histogram, HOUR_MS, type Series } from "../../components/charts/Histogram.tsx"
import { useView } from "../../components/values.tsx"

export const SHOWN_HOURS = 48

/** The requests of one hour, by the code of their error, which is empty for none. */
type Hour = ReadonlyArray<HourlyCount>

const only = (is: (code: string) => boolean) => (hour: Hour) => totalOf(hour.filter(({ code }) => is(code))).requests

const KINDS = {
  "Requests with a key": {
    answered: ["good", only((code) => code === "")],
    "over the limit": ["warning", only((code) => code === "RATE_LIMITED")],
    "other errors": ["bad", only((code) => code !== "" && code !== "RATE_LIMITED")],
  },
  "Webhooks from the partner": {
    accepted: ["good", only((code) => code === "")],
    "bad signature": ["bad", only((code) => code === "INVALID_SIGNATURE")],
    "refused otherwise": ["warning", only((code) => code !== "" && code !== "INVALID_SIGNATURE")],
  },
} as const satisfies Record<string, Series<Hour>>

export const HourlyRequests = (props: {
  readonly kind: keyof typeof KINDS
  readonly rows: ReadonlyArray<HourlyCount>
  readonly empty: string
}) => {
  const to = Math.ceil(useView().now / HOUR_MS) * HOUR_MS
  return (
    <Histogram
      title={`${props.kind} by the hour, last ${SHOWN_HOURS} hours`}
      series={KINDS[props.kind]}
      rows={Object.values(Arr.groupBy(props.rows, ({ hour }): string => hour))}
      at={([first]) => first.hour}
      from={to - SHOWN_HOURS * HOUR_MS}
      to={to}
      empty={props.empty}
    />
  )
}
