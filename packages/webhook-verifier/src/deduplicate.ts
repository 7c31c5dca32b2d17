import type { WebhookHandler } from "./receive.ts"

export { type PostgresStore, type PostgresStoreOptions, postgresStore, type QueryClient } from "./postgresStore.ts"
export type { WebhookHandler } from "./receive.ts"
export { type RedisClient, type RedisCommand, type RedisStoreOptions, redisStore } from "./redisStore.ts"
export { type SqliteDatabase, type SqliteStore, type SqliteStoreOptions, sqliteStore } from "./sqliteStore.ts"

/** The result of a claim: ours by this name, held by another, or not needed any more. */
export type Claim =
  | { readonly state: "claimed"; readonly claim: string }
  | { readonly state: "in_progress" }
  | { readonly state: "handled" }

/** Remembers which events were handled. */
export interface EventStore {
  /** Claims an event for a while; only one claim of an event holds at a time, and none once it is handled. */
  claim(eventId: string): Promise<Claim>
  /** Records that the event was handled. */
  complete(eventId: string): Promise<void>
  /** Gives a claim back, if it is still held, so that the next delivery is handled at once. */
  release(eventId: string, claim: string): Promise<void>
}

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

/** Bounds of a store in memory. */
export interface MemoryStoreOptions {
  /** How many events are remembered; the oldest go first. Default 10,000. */
  readonly capacity?: number | undefined
  /** How long a handler may take before another delivery is handled beside it. Default 300. */
  readonly leaseSeconds?: number | undefined
  /** The clock, in Unix seconds. Default: the system's. */
  readonly now?: (() => number) | undefined
}

/** Creates a store in this process's memory: for one process, and until it ends. */
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
