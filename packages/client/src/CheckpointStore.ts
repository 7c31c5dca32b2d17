import type { Checkpoint } from "./syncEvents.ts"

/** Keeps the checkpoint of one reconciliation. A store of your own has the same two methods. */
export interface CheckpointStore {
  /** Returns the checkpoint that was saved last; undefined before the first. */
  load(): Checkpoint | undefined | Promise<Checkpoint | undefined>
  /** Saves a checkpoint in place of the one before. */
  save(checkpoint: Checkpoint): void | Promise<void>
}

/** Where a store in a database keeps its checkpoint. */
export interface TableOptions {
  /** The table's name, with its schema or without, in lower case. Default `outreach_checkpoints`. */
  readonly table?: string | undefined
  /** Names the reconciliation, where a table holds the checkpoints of several. Default `events`. */
  readonly name?: string | undefined
}

/** Returns where a checkpoint is kept. Throws `RangeError` on a table's name that would need quotes. */
export function tableOf({ table = "outreach_checkpoints", name = "events" }: TableOptions): {
  readonly table: string
  readonly name: string
} {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(table)) {
    throw new RangeError("table must be a name in lower case, with its schema or without")
  }
  return { table, name }
}

/** Reads a checkpoint that was kept as JSON. Throws where the text is anything else, rather than begin anew. */
export function parseCheckpoint(text: string, place: string): Checkpoint {
  const value = jsonOf(text)
  if (!isCheckpoint(value)) {
    throw new Error(
      `${place} holds no checkpoint: restore what was saved there, or remove it to begin at a time of your choice`,
    )
  }
  return value
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== "object" || value === null) return false
  const { since, seen = {} } = value as Record<string, unknown>
  if (typeof since !== "string" || Number.isNaN(Date.parse(since))) return false
  return typeof seen === "object" && seen !== null && Object.values(seen).every((at) => typeof at === "string")
}
