import { createHash } from "node:crypto"
import { Schema } from "effect"

/** A link of the audit log's chain, from the database or an exported file. */
export const ChainLink = Schema.Struct({
  number: Schema.Number,
  /** SHA-256 of the text when it was recorded, in hex. */
  hash: Schema.String,
  /** The hash of the previous link; null for the first one. */
  previous: Schema.NullOr(Schema.String),
  kind: Schema.String,
  /** The command's id. */
  id: Schema.String,
  /** The text of the current entry; null without its entry. */
  line: Schema.NullOr(Schema.String),
  /** Whether a later link records the command's removal. */
  isRemoved: Schema.Boolean,
})
export type ChainLink = typeof ChainLink.Type

/** The fault of an entry. An entry without a link has no number. */
export interface ChainFault {
  readonly number: number | null
  readonly id: string | null
  readonly problem: "changed" | "deleted" | "missing" | "replaced" | "unchained" | "cut off" | "another"
  readonly description: string
}

/** Finds the faults of a link, and between it and the previous one. */
export const chainFaults = (
  before: ChainLink | undefined,
  { number, hash, previous, kind, id, line, isRemoved }: ChainLink,
): ReadonlyArray<ChainFault> => {
  const faults: Array<ChainFault> = []
  const expected = (before?.number ?? 0) + 1
  if (number > expected) {
    const last = number - 1
    const description =
      last === expected ? `Entry ${last} is missing.` : `The entries ${expected} to ${last} are missing.`
    faults.push({ number: expected, id: null, problem: "missing", description })
  } else if (previous !== (before?.hash ?? null)) {
    const described = `Entry ${number} follows another entry than the one that stands before it, which was put in its place, or changed together with its hash.`
    faults.push({ number: expected - 1, id: before?.id ?? null, problem: "replaced", description: described })
  }
  if (line === null) {
    if (isRemoved) return faults
    const description = `What entry ${number} recorded (${kind}) was deleted, and no removal is recorded.`
    faults.push({ number, id, problem: "deleted", description })
  } else if (createHash("sha256").update(line).digest("hex") !== hash) {
    const description = `Entry ${number} (${kind}) is not what was recorded: its hash is that of another text.`
    faults.push({ number, id, problem: "changed", description })
  }
  return faults
}

/** Writes a link as a line of an export: its hash and text. */
export const toLine = ({ number, hash, previous, kind, id, line }: ChainLink): string =>
  `{"hash":"${hash}",${(line ?? JSON.stringify({ number, previous, kind, id, removed: true })).slice(1)}`

const LINE =
  /^\{"hash":"([0-9a-f]{64})",("number":(\d{1,9}),"previous":(null|"[0-9a-f]{64}"),"kind":"(\w+)","id":"(\w+)"(,"removed":true)?.*)\}$/s

/** Reads a line of an export; undefined for another text. */
export const parseLine = (text: string): ChainLink | undefined => {
  const [, hash, rest, number, previous, kind, id, removed] = LINE.exec(text) ?? []
  if (hash === undefined) return undefined
  return {
    number: Number(number),
    hash,
    previous: JSON.parse(previous!),
    kind: kind!,
    id: id!,
    line: removed === undefined ? `{${rest}}` : null,
    isRemoved: removed !== undefined,
  }
}
