import { Schema } from "effect"
import { EndpointId, OrganizationId } from "../Identifier.ts"

/** How long every call has failed, in hours, before an organization is notified of it, is notified again, and the endpoint is disabled; null for never. */
export interface FailingHours {
  readonly notice: number | null
  readonly reminder: number | null
  readonly disable: number | null
}

/** The last notice that an organization had of a failing endpoint, by its number; 0 for none. */
export const NOTICES = ["notice", "reminder", "disable"] as const satisfies ReadonlyArray<keyof FailingHours>

/** What is known of the calls to an endpoint that fails, or did of late. Times are in Unix milliseconds. */
export const FailingEndpoint = Schema.Struct({
  endpointId: EndpointId,
  organizationId: OrganizationId,
  version: Schema.Int,
  /** When the five minutes began in which the first of the calls failed that have all failed; null unless that is known. */
  since: Schema.NullOr(Schema.Number),
  /** How many of `NOTICES` were given, and when the last of them was. */
  notices: Schema.Int,
  noticedAt: Schema.NullOr(Schema.Number),
  /** Whether somebody is still to be notified. */
  isPending: Schema.Boolean,
  disableWhenFailing: Schema.Boolean,
  /** The last success, and the first and the last failure after it. */
  succeededAt: Schema.NullOr(Schema.Number),
  firstFailedAt: Schema.NullOr(Schema.Number),
  lastFailedAt: Schema.NullOr(Schema.Number),
  /** When a call to any endpoint of the deployment was last answered with a status, before the last failure. */
  answeredAt: Schema.NullOr(Schema.Number),
})
export type FailingEndpoint = typeof FailingEndpoint.Type

/** What is to be done about an endpoint: it began to fail, succeeded again, or its organization is to be given one of `NOTICES`. */
export type FailingVerdict =
  | { readonly _tag: "Began"; readonly at: number }
  | { readonly _tag: "Recovered" }
  | { readonly _tag: "Noticed"; readonly notices: number; readonly isNotified: boolean }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Judges whether every call to an endpoint has failed for so long that its organization is notified, or the endpoint is disabled.
 *
 * One success ends it. Time without a call proves nothing: the last failure must lie so long after the first. Between two notices lies at
 * least the time between their settings, whatever a clock did. Within a day before the last failure some call of the deployment was
 * answered: if its own network is down, no partner is at fault.
 */
export const judgeFailing = (endpoint: FailingEndpoint, hours: FailingHours): FailingVerdict | null => {
  const { since, succeededAt, firstFailedAt, lastFailedAt, answeredAt } = endpoint
  if (since === null) return firstFailedAt === null ? null : { _tag: "Began", at: firstFailedAt }
  if (succeededAt !== null && succeededAt >= since) return { _tag: "Recovered" }
  const notices = nextNotice(endpoint.notices, hours)
  if (endpoint.isPending || notices === null || lastFailedAt === null || answeredAt === null) return null
  // What is not to be disabled is known to fail, and nobody is notified.
  const isNotified = endpoint.disableWhenFailing
  if (!isNotified && notices > 1) return null
  const isAnswering = answeredAt > since && lastFailedAt > answeredAt && lastFailedAt - answeredAt <= DAY_MS
  return isAnswering && lastFailedAt >= noticeDueAt(since, endpoint, notices, hours)
    ? { _tag: "Noticed", notices, isNotified }
    : null
}

/** Returns the number of the notice that follows; null if none does. */
export const nextNotice = (notices: number, hours: FailingHours): number | null => {
  const next = NOTICES.findIndex((name, i) => i >= notices && hours[name] !== null)
  return next === -1 ? null : next + 1
}

/** Returns when a notice is due if every call fails until then. */
export const noticeDueAt = (
  since: number,
  { notices: last, noticedAt }: Pick<FailingEndpoint, "notices" | "noticedAt">,
  notices: number,
  hours: FailingHours,
): number => {
  const after = (count: number) => (count === 0 ? 0 : (hours[NOTICES[count - 1]!] ?? 0) * HOUR_MS)
  return Math.max(since + after(notices), noticedAt === null ? 0 : noticedAt + after(notices) - after(last))
}
