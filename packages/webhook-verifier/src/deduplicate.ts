import type { EventStore } from "./EventStore.ts"
import type { WebhookHandler } from "./receive.ts"

export type { Claim, EventStore } from "./EventStore.ts"
export { type PostgresStore, type PostgresStoreOptions, postgresStore, type QueryClient } from "./postgresStore.ts"
export type { WebhookHandler } from "./receive.ts"
export { type RedisClient, type RedisCommand, type RedisStoreOptions, redisStore } from "./redisStore.ts"
export { type SqliteDatabase, type SqliteStore, type SqliteStoreOptions, sqliteStore } from "./sqliteStore.ts"

/** Thrown for a repeated delivery of an event that is still being handled. The sender should retry later. */
export class EventInProgressError extends Error {
  override readonly name: string = "EventInProgressError"
  constructor() {
    super("The event is being handled by another delivery of it")
  }
}

/**
 * Wraps a handler so that it receives each event once: claims the event, handles it, and records the success.
 *
 * If the handler fails, the claim is released; if the process crashes, the claim expires. So no event is lost. During another
 * delivery's handling it throws `EventInProgressError`; the adapters return 500 for it, so that the service retries.
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
      // If this fails too, the claim expires.
      await store.release(event.event_id, claimed.claim).catch(() => {})
      throw error
    }
    await store.complete(event.event_id)
  }
}

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** Maximum number of remembered events; the oldest are evicted. Default 10,000. */
  readonly capacity?: number | undefined
  /** Seconds until a claim expires and another delivery is handled. Default 300. */
  readonly leaseSeconds?: number | undefined
  /** Current Unix time in seconds. Default: the system clock. */
  readonly now?: (() => number) | undefined
}

/** Creates a store in this process's memory. */
export function memoryStore({
  capacity = 10_000,
  leaseSeconds = 300,
  now = () => Date.now() / 1000,
}: MemoryStoreOptions = {}): EventStore {
  const events = new Map<string, { readonly claim: string; readonly until: number }>()
  let claims = 0
  return {
    async claim(eventId) {
      const held = events.get(eventId)
      if (held?.until === Number.POSITIVE_INFINITY) return { state: "handled" }
      if (held !== undefined && held.until > now()) return { state: "in_progress" }
      claims += 1
      const claim = String(claims)
      events.delete(eventId)
      events.set(eventId, { claim, until: now() + leaseSeconds })
      for (const oldest of events.keys()) {
        if (events.size <= capacity) break
        events.delete(oldest)
      }
      return { state: "claimed", claim }
    },
    async complete(eventId) {
      events.set(eventId, { claim: "", until: Number.POSITIVE_INFINITY })
    },
    async release(eventId, claim) {
      if (events.get(eventId)?.claim === claim) events.delete(eventId)
    },
  }
}
