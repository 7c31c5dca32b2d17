import { Context, type Effect } from "effect"
import type { CommitTimestamp } from "../Transaction.ts"
import type { EventDraft } from "./Event.ts"

/** Publishes what happened to recipients. */
export class EventPublisher extends Context.Service<
  EventPublisher,
  {
    /**
     * Stamps the recipients of one organization's events, counts the events in campaigns and digests, and writes them to the log, in the
     * transaction of the timestamp. The log contains only events of traffic campaigns.
     */
    publish(events: ReadonlyArray<EventDraft>, at: CommitTimestamp): Effect.Effect<void>
  }
>()("domain/events/EventPublisher") {}
