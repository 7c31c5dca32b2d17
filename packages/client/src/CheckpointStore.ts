import type { Checkpoint } from "./syncEvents.ts"

/** Stores the checkpoint of one reconciliation. Custom stores implement these two methods. */
export interface CheckpointStore {
  /** Returns the latest saved checkpoint; undefined if there is none. */
  load(): Checkpoint | undefined | Promise<Checkpoint | undefined>
  /** Replaces the saved checkpoint. */
  save(checkpoint: Checkpoint): void | Promise<void>
}

/** Options of stores in a database. */
export interface TableOptions {
  /** Table name in lower case, optionally with a schema. Default `outreach_checkpoints`. */
  readonly table?: string | undefined
  /** Name of the reconciliation, if a table contains checkpoints of several. Default `events`. */
  readonly name?: string | undefined
}

/** Returns the table and the row of a checkpoint. Throws `RangeError` on table names that need quotes. */
export function tableOf({ table = "outreach_checkpoints", name = "events" }: TableOptions): {
  readonly table: string
  readonly name: string
} {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(table)) {
    throw new RangeError("table must be a name in lower case, with its schema or without")
  }
  return { table, name }
}

/** Parses a stored checkpoint. Throws on invalid text instead of starting from scratch. */
export function parseCheckpoint(text: string, place: string): Checkpoint {
  try {
    const value: unknown = JSON.parse(text)
    if (isCheckpoint(value)) return value
  } catch {
    // The same as other invalid text.
  }
  throw new Error(
    `${place} holds no checkpoint: restore what was saved there, or remove it to begin at a time of your choice`,
  )
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== "object" || value === null) return false
  const { since, seen = {} } = value as Record<string, unknown>
  if (typeof since !== "string" || Number.isNaN(Date.parse(since))) return false
  return typeof seen === "object" && seen !== null && Object.values(seen).every((at) => typeof at === "string")
}
