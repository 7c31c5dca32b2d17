/** What became of a claim: ours by this name, held by another, or not needed any more. */
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
