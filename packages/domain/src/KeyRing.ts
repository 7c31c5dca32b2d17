import type { Redacted } from "effect"

/** A secret key of the deployment. */
export interface RingKey {
  /** The operator's name for the key. */
  readonly id: string
  /** A byte derived from the key, which stands in what the key makes. Undefined for `DEFAULT_KEY_ID`, as releases before rings made it. */
  readonly mark: number | undefined
  readonly key: Redacted.Redacted<Uint8Array>
}

/** The keys of one purpose, newest first: the first encrypts and seals, and all open. */
export type KeyRing = readonly [newest: RingKey, ...older: ReadonlyArray<RingKey>]

/** The id of a key that is configured without one. */
export const DEFAULT_KEY_ID = "k1"

/** Creates the ring of a single key without an id. */
export const singleKey = (key: Redacted.Redacted<Uint8Array>): KeyRing => [{ id: DEFAULT_KEY_ID, mark: undefined, key }]

/** Reports whether a key may have made something with this mark. Where either has no mark, the key must be tried. */
export const mayHaveMade = (key: Pick<RingKey, "mark">, mark: number | undefined): boolean =>
  key.mark === undefined || mark === undefined || key.mark === mark
