import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { settleAll } from "@outreach/domain/settleAll"
import { CampaignCounts } from "@outreach/postgres/campaigns/campaignChanges"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { OldRows } from "@outreach/postgres/OldRows"
import { Effect } from "effect"
import { repeatEvery, repeatUntilEmpty, repeatWhenDue, untilMore } from "../loops/retryForever.ts"
import { whileClockTrusted } from "./watchClock.ts"

/** Adds changes to the counts of campaigns, until interrupted. */
export const countCampaigns = Effect.flatMap(CampaignCounts, ({ fold }) =>
  repeatEvery("foldCampaignCounts", "5 seconds", fold),
)

/** Closes failure groups of endpoints that accept calls again, until interrupted. All workers do this. */
export const closeFailureGroups = Effect.flatMap(DeliveryOutcomes, ({ closeGroups }) =>
  repeatEvery("closeFailureGroups", "30 seconds", closeGroups),
)

/** Cancels waiting deliveries of removed endpoints, until interrupted. */
export const endRemovedEndpoints = Effect.flatMap(EndpointRepository, ({ endRemoved }) =>
  repeatWhenDue("endRemovedEndpoints", "endpoints", Effect.as(repeatUntilEmpty(endRemoved), untilMore(undefined))),
)

/** Deletes rate windows, idempotency keys, sending rates, sign-in links and operators' sessions that are over, once a minute, until interrupted. */
export const deleteExpired = Effect.flatMap(OldRows, (rows) => {
  const once = settleAll([rows.deleteRateWindows, rows.deleteResponses, rows.deleteSendRates, rows.deleteSignIns])
  return repeatEvery("deleteExpired", "1 minute", whileClockTrusted(once))
})

/**
 * Merges hourly delivery outcomes, deletes outcomes and failure groups older than `days`, and
 * then deletes removed endpoints without history, hourly, until interrupted.
 */
export const mergeOutcomes = Effect.fnUntraced(function* (days: number) {
  const outcomes = yield* DeliveryOutcomes
  const { forgetRemoved } = yield* EndpointRepository
  const once = settleAll([
    repeatUntilEmpty(outcomes.merge),
    repeatUntilEmpty(outcomes.forget(days)),
    repeatUntilEmpty(outcomes.forgetGroups(days)),
    repeatUntilEmpty(forgetRemoved(days)),
  ])
  return yield* repeatEvery("mergeOutcomes", "1 hour", whileClockTrusted(once))
})
