import { createHash } from "node:crypto"

/** A link of the chain of the audit log, of the database or of an exported file. */
export interface ChainLink {
  readonly number: number
  /** SHA-256 of the text when it was recorded, in hex. */
  readonly hash: string
  /** The hash of the link before; null for the first one. */
  readonly previous: string | null
  readonly kind: string
  /** The command's id. */
  readonly id: string
  /** The text as its entry is now; null without its entry. */
  readonly line: string | null
  /** Whether a later link records that the command was removed. */
  readonly isRemoved: boolean
}

/** What is wrong with an entry. One without a link has no number. */
export interface ChainFault {
  readonly number: number | null
  readonly id: string | null
  readonly problem: "changed" | "deleted" | "missing" | "replaced" | "unchained" | "cut off" | "another"
  readonly description: string
}

/** Finds what is wrong with a link, and between it and the link that was read before it. */
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

/** Writes a link as a line of an export: its text with its hash in front. */
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
