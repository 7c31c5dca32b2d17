import { COUNT_CAP } from "@outreach/domain/countCaps"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import type { MailOutcome } from "@outreach/domain/mail/Mailer"
import { monitorMetrics } from "@outreach/postgres/DatabaseMonitor"
import { DUE_QUEUES, HORIZON_HOLDERS, LAGS_COUNTED } from "@outreach/postgres/deliveries/DeliveryGauges"
import { hintMetrics } from "@outreach/postgres/events/Hints"
import type { Reason } from "@outreach/retry-policy"
import { Metric } from "effect"

const OUTCOMES = [
  "success",
  "client_error",
  "server_error",
  "redirect",
  "informational",
  "invalid_status",
  "refused",
  "reset",
  "unresolved_name",
  "name_not_asked",
  "tls",
  "connect_timeout",
  "headers_timeout",
  "body_timeout",
  "deadline",
  "blocked_address",
  "unknown",
] as const satisfies ReadonlyArray<Reason>

/** How a claim ended. */
const CLAIM_RESULTS = ["succeeded", "failed"] as const

/** What came of attempts at e-mails. */
const MAIL_OUTCOMES = [
  "Accepted",
  "Bounced",
  "Deferred",
  "Refused",
  "Unreachable",
  "Unknown",
  "Late",
] as const satisfies ReadonlyArray<MailOutcome["_tag"]>

/** What came of mail to a return path. */
const COMPLAINT_RESULTS = ["recorded", "repeated", "unknown", "ignored"] as const
const BOUNCE_RESULTS = ["recorded", "repeated", "refused", "unknown", "ignored"] as const

/** What is read of the database: what is due, and how the deliveries and the database stand otherwise. */
const READINGS = ["due", "state"] as const
export type Reading = (typeof READINGS)[number]

/** From a fast call to the longest that may be set. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120]
const CLAIM_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
/** To an hour: an endpoint that is probed lets the first attempt wait. */
const DELAY_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/**
 * What the worker counts of its own doing; sums over the workers say it of all. No label names a partner, an endpoint or an event.
 *
 * The names are a promise to whoever draws and alerts on them.
 */
export const metrics = {
  attempts: each(OUTCOMES, "outcome", (attributes) =>
    counter("outreach_delivery_attempts_total", "Attempts at deliveries, by what came of them.", attributes),
  ),
  attemptDuration: histogram(
    "outreach_delivery_attempt_duration_seconds",
    CALL_SECONDS,
    "How long an attempt's call took.",
  ),
  firstAttemptDelay: histogram(
    "outreach_delivery_first_attempt_delay_seconds",
    DELAY_SECONDS,
    "From the publication of an event to the first attempt at delivering it; replays are left out.",
  ),
  deadLetters: each(DEAD_LETTER_REASONS, "reason", (attributes) =>
    counter("outreach_dead_letters_total", "Deliveries set aside as dead letters, by reason.", attributes),
  ),
  leasesLost: counter(
    "outreach_delivery_leases_lost_total",
    "Calls of lost workers, of which nobody knows what came, that this worker makes again.",
  ),
  settlementsRefused: counter(
    "outreach_delivery_settlements_refused_total",
    "Attempts whose outcome was not written, because another worker had taken the endpoint meanwhile.",
  ),
  claims: each(CLAIM_RESULTS, "result", (attributes) =>
    counter("outreach_delivery_claims_total", "Claims of endpoints, by whether they succeeded.", attributes),
  ),
  claimDuration: histogram("outreach_delivery_claim_duration_seconds", CLAIM_SECONDS, "How long a claim took."),
  lastClaim: each(CLAIM_RESULTS, "result", (attributes) =>
    gauge(
      "outreach_delivery_last_claim_timestamp_seconds",
      "When a claim last succeeded, and failed; 0 for never.",
      attributes,
    ),
  ),
  takeovers: counter(
    "outreach_endpoint_takeovers_total",
    "Endpoints that this worker took from workers that were lost.",
  ),
  endpointsOwned: gauge("outreach_endpoints_owned", "Endpoints that this worker delivers to."),
  paused: gauge(
    "outreach_worker_paused",
    "1 while the worker sends nothing, because the database was restored or moved.",
  ),
  mailAttempts: each(MAIL_OUTCOMES, "outcome", (attributes) =>
    counter("outreach_message_attempts_total", "Attempts at e-mails, by what the mail server said.", {
      outcome: attributes["outcome"]!.toLowerCase(),
    }),
  ),
  bounceReports: each(BOUNCE_RESULTS, "result", (attributes) =>
    counter("outreach_bounce_reports_total", "Mail to return paths, by what came of it.", attributes),
  ),
  complaintReports: each(COMPLAINT_RESULTS, "result", (attributes) =>
    counter("outreach_complaint_reports_total", "Complaints about messages, by what came of them.", attributes),
  ),
  readingUp: each(READINGS, "reading", (attributes) =>
    gauge(
      "outreach_reading_up",
      "1 while the gauges of the database can be read; at 0 they are as old as their timestamp.",
      attributes,
    ),
  ),
  readAt: each(READINGS, "reading", (attributes) =>
    gauge("outreach_reading_timestamp_seconds", "When the gauges of the database were read; 0 for never.", attributes),
  ),
}

/** How the queues stand over all workers, as each worker reads it from the database: take the greatest, not the sum. */
export const gauges = {
  due: each(DUE_QUEUES, "queue", (attributes) =>
    gauge(
      "outreach_deliveries_due",
      `Deliveries that are due and not in flight, counted up to ${COUNT_CAP} of each queue.`,
      attributes,
    ),
  ),
  oldestDue: each(DUE_QUEUES, "queue", (attributes) =>
    gauge("outreach_deliveries_oldest_due_age_seconds", "How long the first of them has been due.", attributes),
  ),
  maxLagEvents: each(DUE_QUEUES, "queue", (attributes) =>
    gauge(
      "outreach_endpoint_max_lag_events",
      `The most that wait for one endpoint, counted up to ${COUNT_CAP}, of the ${LAGS_COUNTED} that have waited longest.`,
      attributes,
    ),
  ),
  maxLagSeconds: each(DUE_QUEUES, "queue", (attributes) =>
    gauge("outreach_endpoint_max_lag_seconds", "How far the endpoint that has waited longest is behind.", attributes),
  ),
  clockAhead: gauge(
    "outreach_organization_clock_ahead_seconds",
    "How far the clock of an organization is ahead of the database's, at most.",
  ),
  clockDoubted: gauge(
    "outreach_clock_doubted",
    "1 while a worker does not believe the database's clock, so that nothing is dropped or erased by age.",
  ),
  inFlight: gauge("outreach_deliveries_in_flight", "Deliveries that some worker holds."),
  breakersOpen: gauge(
    "outreach_breakers_open",
    "Endpoints that failed in a row and are probed, or have just begun to answer again.",
  ),
  deadLetters: each(DEAD_LETTER_REASONS, "reason", (attributes) =>
    gauge(
      "outreach_dead_letters",
      `Dead letters that were not replayed, counted up to the newest ${COUNT_CAP}.`,
      attributes,
    ),
  ),
  messagesDue: gauge("outreach_messages_due", `E-mails that are due and not being sent, counted up to ${COUNT_CAP}.`),
  messagesOldestDue: gauge("outreach_messages_oldest_due_age_seconds", "How long the first of them has been due."),
  messagesQuarantined: gauge(
    "outreach_messages_quarantined",
    `E-mails that were sent and never answered, and are not tried again, counted up to ${COUNT_CAP}.`,
  ),
  inboxWaiting: gauge("outreach_inbox_waiting", `Inbound events that wait to be applied, counted up to ${COUNT_CAP}.`),
  inboxOldestWaiting: gauge(
    "outreach_inbox_oldest_waiting_age_seconds",
    "How long ago the first of them was received.",
  ),
  hitsWaiting: gauge("outreach_hits_waiting", `Opens and clicks that wait to be judged, counted up to ${COUNT_CAP}.`),
  hitsOldestWaiting: gauge(
    "outreach_hits_oldest_waiting_age_seconds",
    "For how long the first of them has waited; up to a minute is for their messages to be accepted.",
  ),
  unsubscriptionsWaiting: gauge(
    "outreach_unsubscriptions_waiting",
    `Recipients who asked to be written to no more and are not suppressed yet, counted up to ${COUNT_CAP}.`,
  ),
  unsubscriptionsOldestWaiting: gauge(
    "outreach_unsubscriptions_oldest_waiting_age_seconds",
    "For how long the first of them has waited.",
  ),
  inboxQuarantined: gauge(
    "outreach_inbox_set_aside",
    `Inbound events that could not be applied and were not replayed, counted up to ${COUNT_CAP}.`,
  ),
  queueRows: gauge("outreach_deliveries_rows", "Rows of the delivery queue, due or not: the database's estimate."),
  queueDeadRows: gauge(
    "outreach_deliveries_dead_rows",
    "Remains of rows in the delivery queue: the database's estimate.",
  ),
  horizonTransactions: each(HORIZON_HOLDERS, "holder", (attributes) =>
    gauge(
      "outreach_database_horizon_age_transactions",
      "Transactions since the oldest one that may still see what was deleted.",
      attributes,
    ),
  ),
  horizonSeconds: each(HORIZON_HOLDERS, "holder", (attributes) =>
    gauge(
      "outreach_database_horizon_age_seconds",
      "How long that one has been open; a replication slot does not say.",
      attributes,
    ),
  ),
}

/** Everything that exists from the start, so that a rate is known from its first event on. */
export const atStart: ReadonlyArray<Metric.Metric<never, unknown>> = Object.values({
  ...metrics,
  ...hintMetrics,
  ...monitorMetrics,
}).flatMap((metric) => (Metric.isMetric(metric) ? [metric] : Object.values(metric)))

type Attributes = Readonly<Record<string, string>>

function each<Value extends string, M>(
  values: ReadonlyArray<Value>,
  label: string,
  make: (attributes: Attributes) => M,
) {
  return Object.fromEntries(values.map((value) => [value, make({ [label]: value })])) as Readonly<Record<Value, M>>
}

function counter(name: string, description: string, attributes: Attributes = {}) {
  return Metric.counter(name, { description, incremental: true, attributes })
}

function gauge(name: string, description: string, attributes: Attributes = {}) {
  return Metric.gauge(name, { description, attributes })
}

function histogram(name: string, boundaries: ReadonlyArray<number>, description: string) {
  return Metric.histogram(name, { description, boundaries })
}
