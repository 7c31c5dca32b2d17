import type { DigestDay, ProgramProgress } from "@outreach/backoffice/digest/DigestReader"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { describeForecast, FORECAST_METHOD } from "@outreach/domain/digest/describeForecast"
import type { QuotaForecast } from "@outreach/domain/digest/forecastQuota"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { formatCell, formatTable } from "../output/format.ts"

/** Formats the counts of dates as a table, a line for each date. */
export const formatDays = (days: ReadonlyArray<DigestDay>): string =>
  formatTable(
    ["date", "recipients_published", "sent", "bounced", "opened", "clicked", "accounts", "learners", "completers"],
    days.map(({ date, outreach, funnel }) =>
      [
        date,
        ...[outreach.recipients_published, outreach.sent, outreach.bounced, outreach.opened, outreach.clicked],
        ...[funnel.date.account_created, funnel.date.learner_qualified, funnel.date.completer_qualified],
      ].map(formatCell),
    ),
  )

/** Formats the forecast of each target in sentences. */
export const formatForecasts = (
  progress: ProgramProgress,
  forecasts: Readonly<Record<"learner_qualified" | "completer_qualified", QuotaForecast>>,
  by: CalendarDate | null,
): string =>
  [
    ...(["learner_qualified", "completer_qualified"] as const).map((stage) => {
      const { count, target } = progress[stage]
      const effect = target === null ? "" : ` When it is reached, ${WHEN_REACHED[stage]}.`
      return `${stage}: ${formatCell(count)} of ${formatCell(target)}${by === null ? "" : `, wanted by ${by}`}\n  ${describeForecast(forecasts[stage])}${effect}`
    }),
    FORECAST_METHOD,
  ].join("\n\n")
