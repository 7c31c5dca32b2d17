/** A leaf library and its alternatives. Ours is the first candidate. */
export interface Comparison {
  readonly candidates: readonly Candidate[]
  /** The yes/no rows of the table, with the wording of the README. */
  readonly features: readonly string[]
  /** Numeric rows by heading, with a cell for each candidate. */
  readonly counts?: Readonly<Record<string, readonly string[]>>
  /** The names of the measured operations. */
  readonly operations: readonly string[]
  /** Closes resources of the operations, such as a server. */
  readonly close?: () => Promise<void>
}

export interface Candidate {
  /** The heading of its column. */
  readonly name: string
  /** The package on npm; its installed dependencies are counted. Undefined for a hand-written candidate. */
  readonly packageName?: string
  /** A module that uses it for the smallest real task. It is bundled to measure its size. */
  readonly code: string
  readonly has: readonly string[]
  /** Operations by name; each call does one operation, and returns a promise if it is asynchronous. Unsupported operations are left out. */
  readonly operations: Readonly<Record<string, () => unknown>>
}
