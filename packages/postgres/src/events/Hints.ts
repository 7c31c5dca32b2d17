import type { OrganizationId } from "@outreach/domain/Identifier"
import { Context, type Effect, Metric } from "effect"

/**
 * What there may be to do: events to deliver, deliveries with a row of their own, inbound events to apply, or e-mails to send, of an
 * organization; or endpoints to take or to look at again.
 */
export const TOPICS = ["events", "due", "inbox", "messages", "endpoints"] as const
export type Topic = (typeof TOPICS)[number]

/** A topic, with the organization that it is about; null for `endpoints`, or when too many were hinted at to name each. */
export interface Hint {
  readonly topic: Topic
  readonly organizationId: OrganizationId | null
}

/**
 * Notifies all processes, this one included, that there may be something to do. A process that misses a hint finds out a second later.
 *
 * A hint within a transaction is sent after its commit. All of a process's hints go over one connection of their own, one after
 * the other: PostgreSQL lets one transaction at a time commit a notification, over all databases.
 */
export class Hints extends Context.Service<
  Hints,
  {
    give(topic: Topic, organizationId?: OrganizationId): Effect.Effect<void>
    /** Calls `hear` for each hint until interrupted, and for all topics when it begins to hear; some may be missed. */
    listen(hear: (hint: Hint) => Effect.Effect<void>): Effect.Effect<never>
  }
>()("postgres/Hints") {}

export const hintMetrics = {
  sent: Metric.counter("outreach_hints_sent_total", {
    description: "Notifications sent to the processes that have something to do.",
    incremental: true,
  }),
  heard: Metric.counter("outreach_hints_heard_total", { description: "Notifications heard.", incremental: true }),
}
