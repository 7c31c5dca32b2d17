import { Suppression, type SuppressionKey } from "@outreach/domain/suppressions/Suppression"
import { Statement } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"

const ofPrograms = rowsOf(Suppression)

/** The columns of a `suppression` of a program, and of one of a whole organization; the decoder of both. */
export const ofProgram = ofPrograms.columnsOf("suppression")
export const ofOrganization = rowsOf(Suppression, { programId: "null" }).columnsOf("suppression")
export const decodeSuppressions = ofPrograms.decode

/** The table `key (kind, value)` of these keys. */
export const toKeyTable = (keys: ReadonlyArray<SuppressionKey>): Statement.Fragment =>
  Statement.fragment([
    Statement.literal("unnest("),
    Statement.parameter(keys.map(({ kind }) => kind)),
    Statement.literal("::text[], "),
    Statement.parameter(keys.map(({ value }) => value.toLowerCase())),
    Statement.literal("::text[]) as key (kind, value)"),
  ])
