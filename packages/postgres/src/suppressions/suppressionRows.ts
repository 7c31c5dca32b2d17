import { Suppression, type SuppressionKey } from "@outreach/domain/suppressions/Suppression"
import type { Statement } from "effect/sql"
import { rowsOf, toTable } from "../rowsOf.ts"

const suppressions = rowsOf(Suppression, { programId: "nullif(suppression.program_id, '')" })

/** The columns of a row `suppression`, and their decoder. */
export const suppressionColumns = suppressions.columnsOf("suppression")
export const decodeSuppressions = suppressions.decode

/** Creates the table `key (kind, value)` of these keys. */
export const toKeyTable = (keys: ReadonlyArray<SuppressionKey>): Statement.Fragment =>
  toTable(
    "key",
    keys.map(({ kind, value }) => ({ kind, value: value.toLowerCase() })),
    { kind: "text", value: "text" },
  )
