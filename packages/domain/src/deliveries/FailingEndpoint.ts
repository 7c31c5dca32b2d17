import { Schema } from "effect"
import { EndpointId, OrganizationId } from "../Identifier.ts"

/** Hours of failing calls until the organization is notified, notified again, and the endpoint is disabled; null for never. */
export interface FailingHours {
  readonly notice: number | null
  readonly reminder: number | null
  readonly disable: number | null
}

/** The latest notice about a failing endpoint, by number; 0 for none. */
export const NOTICES = ["notice", "reminder", "disable"] as const satisfies ReadonlyArray<keyof FailingHours>

/** Facts about an endpoint that fails, or recently did. Times are in Unix milliseconds. */
export const FailingEndpoint = Schema.Struct({
  endpointId: EndpointId,
  organizationId: OrganizationId,
  version: Schema.Int,
  /** Start of the five minutes in which the current failures started; null unless known. */
  since: Schema.NullOr(Schema.Number),
  /** Number of sent `NOTICES`, and the time of the last. */
  notices: Schema.Int,
  noticedAt: Schema.NullOr(Schema.Number),
  /** Whether a notice is still to be sent. */
  isPending: Schema.Boolean,
  disableWhenFailing: Schema.Boolean,
  /** Last success, and the first and last failure after it. */
  succeededAt: Schema.NullOr(Schema.Number),
  firstFailedAt: Schema.NullOr(Schema.Number),
  lastFailedAt: Schema.NullOr(Schema.Number),
  /** Time of the last response of any endpoint before the last failure. */
  answeredAt: Schema.NullOr(Schema.Number),
})
export type FailingEndpoint = typeof FailingEndpoint.Type

/** Next action for an endpoint: it started to fail, recovered, or one of `NOTICES` is due. */
export type FailingVerdict =
  | { readonly _tag: "Began"; readonly at: number }
  | { readonly _tag: "Recovered" }
  | { readonly _tag: "Noticed"; readonly notices: number; readonly isNotified: boolean }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Decides whether all calls to an endpoint have failed long enough for a notice or for disabling it.
 *
 * One success resets it. Time without calls doesn't count: the time between first and last failure is measured. Two notices are at
 * least as far apart as their settings, whatever a clock did. Within a day before the last failure, some call of the deployment must have
 * had a response: if our own network is down, partners aren't at fault.
 */
export const judgeFailing = (endpoint: FailingEndpoint, hours: FailingHours): FailingVerdict | null => {
  const { since, succeededAt, firstFailedAt, lastFailedAt, answeredAt } = endpoint
  if (since === null) return firstFailedAt === null ? null : { _tag: "Began", at: firstFailedAt }
  if (succeededAt !== null && succeededAt >= since) return { _tag: "Recovered" }
  const notices = nextNotice(endpoint.notices, hours)
  if (endpoint.isPending || notices === null || lastFailedAt === null || answeredAt === null) return null
  // An endpoint that must not be disabled is shown as failing, without notices.
  const isNotified = endpoint.disableWhenFailing
  if (!isNotified && notices > 1) return null
  const isAnswering = answeredAt > since && lastFailedAt > answeredAt && lastFailedAt - answeredAt <= DAY_MS
  return isAnswering && lastFailedAt >= noticeDueAt(since, endpoint, notices, hours)
    ? { _tag: "Noticed", notices, isNotified }
    : null
}

/** Returns the number of the next notice; null if there is none. */
export const nextNotice = (notices: number, hours: FailingHours): number | null => {
  const next = NOTICES.findIndex((name, i) => i >= notices && hours[name] !== null)
  return next === -1 ? null : next + 1
}

/** Returns when a notice is due if all calls fail until then. */
export const noticeDueAt = (
  since: number,
  { notices: last, noticedAt }: Pick<FailingEndpoint, "notices" | "noticedAt">,
  notices: number,
  hours: FailingHours,
): number => {
  const after = (count: number) => (count === 0 ? 0 : (hours[NOTICES[count - 1]!] ?? 0) * HOUR_MS)
  return Math.max(since + after(notices), noticedAt === null ? 0 : noticedAt + after(notices) - after(last))
}
