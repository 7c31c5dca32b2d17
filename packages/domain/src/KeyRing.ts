import type { Redacted } from "effect"

/** A secret key of the deployment. */
export interface RingKey {
  /** The operator's name for the key. */
  readonly id: string
  /** A byte derived from the key, which stands in what the key makes and says which keys to try. */
  readonly mark: number
  readonly key: Redacted.Redacted<Uint8Array>
}

/** The keys of one purpose, newest first: the first encrypts and seals, and all open. */
export type KeyRing = readonly [newest: RingKey, ...older: ReadonlyArray<RingKey>]

/** The id of a key that is configured without one. */
export const DEFAULT_KEY_ID = "k1"
