import type { EventStore } from "./EventStore.ts"
import type { WebhookHandler } from "./receive.ts"

export type { Claim, EventStore } from "./EventStore.ts"
export { type MemoryStoreOptions, memoryStore } from "./memoryStore.ts"
export { type PostgresStore, type PostgresStoreOptions, postgresStore, type QueryClient } from "./postgresStore.ts"
export type { WebhookHandler } from "./receive.ts"

/** An event that came again while it was being handled; the sender is to try later. */
export class EventInProgressError extends Error {
  override readonly name: string = "EventInProgressError"
  constructor() {
    super("The event is being handled by another delivery of it")
  }
}

/**
 * Lets a handler see each event once: claims it, handles it, and records that it was handled.
 *
 * A handler that fails gives its claim back; one that crashes loses it after the store's lease; so no event is swallowed. While
 * another delivery is being handled it throws `EventInProgressError`, which the adapters answer with 500, so that the event comes again.
 */
export function deduplicate<Event extends { readonly event_id: string }>(
  store: EventStore,
  handle: WebhookHandler<Event>,
): (event: Event) => Promise<void> {
  return async (event) => {
    const claimed = await store.claim(event.event_id)
    if (claimed.state === "handled") return
    if (claimed.state === "in_progress") throw new EventInProgressError()
    try {
      await handle(event)
    } catch (error) {
      // Where this fails too, the lease ends by itself.
      await store.release(event.event_id, claimed.claim).catch(() => {})
      throw error
    }
    await store.complete(event.event_id)
  }
}
