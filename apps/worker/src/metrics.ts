import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { DELIVERY_REASONS } from "@outreach/domain/deliveries/settleAttempt"
import type { MailOutcome } from "@outreach/domain/mail/Transport"
import { READINGS } from "@outreach/domain/operators/facts"
import { counter, counters, gauge, gauges } from "@outreach/process/metrics"
import { Metric, Struct } from "effect"

const CLAIM_RESULTS = ["succeeded", "failed"] as const

const MAIL_OUTCOMES = [
  "Accepted",
  "Bounced",
  "Deferred",
  "Refused",
  "Unreachable",
  "Unknown",
  "Late",
] as const satisfies ReadonlyArray<MailOutcome["_tag"]>

/** From a fast call to the maximum timeout setting. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120]
const CLAIM_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
/** Up to an hour, because the first attempt at a probed endpoint is delayed. */
const DELAY_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/**
 * Counters of this worker; sum them over all workers. No label contains a partner, an endpoint or an event.
 *
 * Metric names are stable, because dashboards and alerts use them.
 */
export const metrics = {
  attempts: counters("outreach_delivery_attempts_total", "Attempts at deliveries, by outcome.", {
    outcome: DELIVERY_REASONS,
  }),
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
  deadLetters: counters("outreach_dead_letters_total", "Deliveries set aside as dead letters, by reason.", {
    reason: DEAD_LETTER_REASONS,
  }),
  leasesLost: counter(
    "outreach_delivery_leases_lost_total",
    "Calls of lost workers, of unknown outcome, that this worker makes again.",
  ),
  settlementsRefused: counter(
    "outreach_delivery_settlements_refused_total",
    "Attempts whose outcome was not written, because another worker had taken the endpoint.",
  ),
  claims: counters("outreach_delivery_claims_total", "Claims of endpoints, by whether they succeeded.", {
    result: CLAIM_RESULTS,
  }),
  claimDuration: histogram("outreach_delivery_claim_duration_seconds", CLAIM_SECONDS, "How long a claim took."),
  lastClaim: gauges(
    "outreach_delivery_last_claim_timestamp_seconds",
    "When a claim last succeeded, and failed; 0 for never.",
    { result: CLAIM_RESULTS },
  ),
  takeovers: counter(
    "outreach_endpoint_takeovers_total",
    "Endpoints that this worker took from workers that were lost.",
  ),
  endpointsOwned: gauge("outreach_endpoints_owned", "Endpoints that this worker delivers to."),
  paused: gauge("outreach_worker_paused", "1 while the worker is paused because the database was restored or moved."),
  mailAttempts: counters("outreach_message_attempts_total", "Attempts at e-mails, by result.", {
    outcome: MAIL_OUTCOMES,
  }),
  bounceReports: counters("outreach_bounce_reports_total", "Mail to return paths, by result.", {
    result: ["recorded", "repeated", "refused", "unknown", "ignored"],
  }),
  unsubscribeMails: counters("outreach_unsubscribe_mails_total", "Mail to addresses that unsubscribe, by result.", {
    result: ["unsubscribed", "unknown"],
  }),
  complaintReports: counters("outreach_complaint_reports_total", "Complaints about messages, by result.", {
    result: ["recorded", "repeated", "unknown", "ignored"],
  }),
  readingUp: gauges(
    "outreach_reading_up",
    "1 while the gauges of the database can be read; at 0 they are as old as their timestamp.",
    { reading: Struct.keys(READINGS) },
  ),
  readAt: gauges("outreach_reading_timestamp_seconds", "When the gauges of the database were read; 0 for never.", {
    reading: Struct.keys(READINGS),
  }),
}

function histogram(name: string, boundaries: ReadonlyArray<number>, description: string) {
  return Metric.histogram(name, { description, boundaries })
}
