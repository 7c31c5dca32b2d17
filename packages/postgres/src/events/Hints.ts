import type { OrganizationId } from "@outreach/domain/Identifier"
import { Context, type Effect, Metric } from "effect"

/**
 * Work that an organization may have: events to deliver, deliveries with a queued row, inbound events to apply, or e-mails to send;
 * or endpoints to claim or to check.
 */
export const TOPICS = ["events", "due", "inbox", "messages", "endpoints"] as const
export type Topic = (typeof TOPICS)[number]

/** A topic and its organization; null for `endpoints`, or if there are too many organizations to name. */
export interface Hint {
  readonly topic: Topic
  readonly organizationId: OrganizationId | null
}

/**
 * Notifies all processes, including this one, of possible work. A process that misses a hint finds the work a second later.
 *
 * A hint within a transaction is sent after its commit. A process sends all hints one after another over a dedicated connection,
 * because PostgreSQL serializes commits with notifications over all databases.
 */
export class Hints extends Context.Service<
  Hints,
  {
    give(topic: Topic, organizationId?: OrganizationId): Effect.Effect<void>
    /** Calls `onHint` for each hint until interrupted, and once for all topics at the start. Hints may be missed. */
    listen(onHint: (hint: Hint) => Effect.Effect<void>): Effect.Effect<never>
  }
>()("postgres/Hints") {}

export const hintMetrics = {
  sent: Metric.counter("outreach_hints_sent_total", {
    description: "Hint notifications sent.",
    incremental: true,
  }),
  received: Metric.counter("outreach_hints_heard_total", {
    description: "Hint notifications received.",
    incremental: true,
  }),
}
