import { FORECAST_DAYS, type QuotaForecast } from "./forecastQuota.ts"

const whole = new Intl.NumberFormat("en-US")
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 })

const NO_DATE = { TooEarly: "No day is complete yet", NoProgress: "The last complete days brought none" } as const

/** How a forecast is made, in a sentence for those who read one. */
export const FORECAST_METHOD = `The forecast is the mean of the last ${FORECAST_DAYS} complete days (UTC), and supposes that the coming days are like these. The interval is that of the mean, at 80 %.`

export const describeForecast = (forecast: QuotaForecast): string => {
  switch (forecast._tag) {
    case "NoTarget":
      return "There is no target."
    case "Reached":
      return "The target is reached."
    case "TooEarly":
    case "NoProgress":
      return join(
        `${whole.format(forecast.remaining)} are left.`,
        `${NO_DATE[forecast._tag]}, so there is no date.`,
        needed(forecast),
      )
    case "Expected":
      return join(
        `${whole.format(forecast.remaining)} are left, at ${paceOf(forecast)}.`,
        `The target is expected ${dateOf(forecast)}.`,
        needed(forecast),
      )
  }
}

type Expected = Extract<QuotaForecast, { readonly _tag: "Expected" }>

const join = (...sentences: ReadonlyArray<string | undefined>): string => sentences.filter(Boolean).join(" ")

const paceOf = ({ perDay, margin }: Expected): string =>
  margin === null
    ? `${tenths.format(perDay)} a day`
    : `${tenths.format(perDay)} a day (${tenths.format(Math.max(0, perDay - margin))} to ${tenths.format(perDay + margin)})`

const dateOf = ({ on, earliest, latest, margin }: Expected): string => {
  if (on === null) return "in more than five years"
  if (margin === null) return `on ${on}`
  return latest === null
    ? `on ${on}, not before ${earliest}, and perhaps never at this pace`
    : `on ${on}, between ${earliest} and ${latest}`
}

const needed = ({ neededPerDay }: { readonly neededPerDay: number | null }): string | undefined =>
  neededPerDay === null ? undefined : `To reach it in time takes ${whole.format(neededPerDay)} a day.`
