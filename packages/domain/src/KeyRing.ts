import type { Redacted } from "effect"

/** A secret key of the deployment. */
export interface RingKey {
  /** The operator's name of the key. */
  readonly id: string
  /** A byte derived from the key and stored in its output, which shows the keys to try. */
  readonly mark: number
  readonly key: Redacted.Redacted<Uint8Array>
}

/** The keys of one purpose, newest first: the first encrypts and seals, all of them decrypt and verify. */
export type KeyRing = readonly [newest: RingKey, ...older: ReadonlyArray<RingKey>]

/** Id of a key configured without one. */
export const DEFAULT_KEY_ID = "k1"
