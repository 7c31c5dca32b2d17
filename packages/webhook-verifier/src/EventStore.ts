/** Result of a claim: claimed under this name, already being handled, or already handled. */
export type Claim =
  | { readonly state: "claimed"; readonly claim: string }
  | { readonly state: "in_progress" }
  | { readonly state: "handled" }

/** Stores which events were handled. */
export interface EventStore {
  /** Claims an event until its lease expires. An event has at most one active claim, and none after it was handled. */
  claim(eventId: string): Promise<Claim>
  /** Records that the event was handled. */
  complete(eventId: string): Promise<void>
  /** Releases a claim if it is still active, so that the next delivery is handled immediately. */
  release(eventId: string, claim: string): Promise<void>
}
