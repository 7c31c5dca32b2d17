import type { EventStore } from "./EventStore.ts"

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
