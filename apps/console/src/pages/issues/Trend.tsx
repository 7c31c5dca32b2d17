import type { FailureHour } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { HOUR_MS } from "../../components/charts/Histogram.tsx"
import { Sparkline } from "../../components/charts/Sparkline.tsx"
import { formatCount } from "../../components/format.ts"
import { useView } from "../../components/View.ts"

/** Returns where the first of a number of hours begins, of which the last one is the current hour. */
export const firstHour = (now: number, hours: number): number => (Math.floor(now / HOUR_MS) - hours + 1) * HOUR_MS

/** Counts by the hour, with a 0 for each hour without one. */
export const fillHours = (
  hours: ReadonlyArray<FailureHour>,
  from: number,
  count: number,
): ReadonlyArray<{ readonly at: Date; readonly value: number }> => {
  const counts = new Map(hours.map((each) => [toUnixMillis(each.hour), each.count]))
  return Array.from({ length: count }, (_, i) => {
    const at = from + i * HOUR_MS
    return { at: new Date(at), value: counts.get(at) ?? 0 }
  })
}

/** How many deliveries became dead letters in the last 24 hours, by the hour. */
export const Trend = (props: { readonly hours: ReadonlyArray<FailureHour> }) => {
  const points = fillHours(props.hours, firstHour(useView().now, 24), 24)
  const total = points.reduce((sum, { value }) => sum + value, 0)
  return (
    <>
      <Sparkline
        label={`${formatCount(total)} in the last 24 hours, ${points.at(-1)!.value} in this one`}
        points={points}
      />
      <small>{formatCount(total)}</small>
    </>
  )
}
