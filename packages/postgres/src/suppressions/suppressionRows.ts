import { Suppression, type SuppressionKey } from "@outreach/domain/suppressions/Suppression"
import type { Statement } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"

const ofPrograms = rowsOf(Suppression)

/** The columns and the decoder of suppressions of a program, and of suppressions of a whole organization. */
export const ofProgram = ofPrograms.columnsOf("suppression")
export const ofOrganization = rowsOf(Suppression, { programId: "null" }).columnsOf("suppression")
export const decodeSuppressions = ofPrograms.decode

/** Creates the table `key (kind, value)` of these keys. */
export const toKeyTable = (keys: ReadonlyArray<SuppressionKey>): Statement.Fragment =>
  toTable(
    "key",
    keys.map(({ kind, value }) => ({ kind, value: value.toLowerCase() })),
    { kind: "text", value: "text" },
  )
