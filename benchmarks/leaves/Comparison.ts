/** A leaf library beside its alternatives. Ours is the first candidate. */
export interface Comparison {
  readonly candidates: readonly Candidate[]
  /** The rows of the table that are answered by yes or no, as its README words them. */
  readonly features: readonly string[]
  /** Rows that are counted: by their heads, a cell for each candidate. */
  readonly counts?: Readonly<Record<string, readonly string[]>>
  /** The names of the operations that are measured. */
  readonly operations: readonly string[]
  /** Ends what the operations need, such as a server. */
  readonly close?: () => Promise<void>
}

export interface Candidate {
  /** The head of its column. */
  readonly name: string
  /** The package on npm, whose installed dependencies are counted. Without one it is written by hand. */
  readonly packageName?: string
  /** A module that uses it for the smallest real task, which is bundled to weigh it. */
  readonly code: string
  readonly has: readonly string[]
  /** By name; each call does one operation, and returns a promise where it has to. One that a candidate cannot do is missing. */
  readonly operations: Readonly<Record<string, () => unknown>>
}
