import type { DigestDay, ProgramProgress } from "@outreach/backoffice/digest/DigestReader"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { describeForecast, FORECAST_METHOD } from "@outreach/domain/digest/describeForecast"
import { forecastQuota, projectDays } from "@outreach/domain/digest/forecastQuota"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { BurnUp } from "../../components/charts/BurnUp.tsx"
import { formatCount } from "../../components/format.ts"
import { Facts } from "../../components/layout.tsx"
import { StatusBadge, Time, type Tone } from "../../components/values.tsx"

const WORDS = {
  learner_qualified: { title: "Learners", unit: "learners" },
  completer_qualified: { title: "Completers", unit: "completers" },
} as const

interface QuotasProps {
  readonly progress: ProgramProgress
  readonly days: ReadonlyArray<DigestDay>
  readonly by: CalendarDate | null
}

export const Quotas = (props: QuotasProps) => (
  <>
    <div class="halves">
      <Quota {...props} stage="learner_qualified" />
      <Quota {...props} stage="completer_qualified" />
    </div>
    <p>
      <small>{FORECAST_METHOD}</small>
    </p>
  </>
)

const Quota = ({ stage, by, days, ...props }: QuotasProps & { readonly stage: keyof typeof WORDS }) => {
  const progress = props.progress[stage]
  const { title, unit } = WORDS[stage]
  const hasTarget = progress.target !== null
  const quota = { ...progress, by }
  const forecast = forecastQuota(quota)
  const [tone, status] = statusOf(forecast, by)
  const isCurrent = days.at(-1)?.date === progress.today
  return (
    <section aria-labelledby={`quota-${unit}`}>
      <h3 id={`quota-${unit}`}>
        {title} <StatusBadge tone={tone}>{status}</StatusBadge>
      </h3>
      <Facts
        facts={{
          Counted: formatCount(progress.count),
          Target: progress.target === null ? "none" : formatCount(progress.target),
          "Wanted by": hasTarget && by,
          "When reached": hasTarget && WHEN_REACHED[stage],
          Reached: progress.reachedAt && <Time at={progress.reachedAt} />,
        }}
      />
      {hasTarget && <p>{describeForecast(forecast)}</p>}
      <BurnUp
        title={`${title} up to the end of each day`}
        unit={unit}
        days={days.map(({ date, funnel }) => ({ date, count: funnel.cumulative[stage] }))}
        forecast={isCurrent ? projectDays(quota, forecast) : []}
        target={progress.target}
        empty="Nobody was counted yet. Clinicians stand here from their first qualification on, which the partner reports."
      />
    </section>
  )
}

const statusOf = (
  forecast: ReturnType<typeof forecastQuota>,
  by: CalendarDate | null,
): readonly [tone: Tone, status: string] => {
  switch (forecast._tag) {
    case "NoTarget":
      return ["neutral", "no target"]
    case "Reached":
      return ["good", "reached"]
    case "TooEarly":
      return ["neutral", "too early to say"]
    case "NoProgress":
      return ["bad", "no progress"]
    case "Expected":
      if (by === null) return ["neutral", "under way"]
      if (forecast.on === null || forecast.on > by) return ["bad", "too slow"]
      return forecast.margin !== null && (forecast.latest === null || forecast.latest > by)
        ? ["warning", "in time, not surely"]
        : ["good", "in time"]
  }
}
