import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import { csvRow } from "@outreach/backoffice/csv/csvRow"
import {
  type SuppressionCursor,
  type SuppressionListFilter,
  SuppressionReader,
} from "@outreach/backoffice/suppressions/SuppressionReader"
import { Effect } from "effect"

const PAGE_SIZE = 1000

/** Writes the entries of a filter to a new file for `importSuppressions`, newest first. Returns their number. */
export const exportSuppressions = Effect.fn("exportSuppressions")(function* (
  filter: SuppressionListFilter,
  out: string,
) {
  const { list } = yield* SuppressionReader
  const file = yield* createPrivateFile(out)
  yield* file.append(csvRow(["npi", "email", "reason", "program", "since"]))
  let entries = 0
  let after: SuppressionCursor | null = null
  do {
    const page: Effect.Success<ReturnType<typeof list>> = yield* list(filter, { limit: PAGE_SIZE, after })
    const rows = page.suppressions.map(({ kind, value, reason, programId, createdAt }) =>
      csvRow([...(kind === "npi" ? [value, null] : [null, value]), reason, programId, createdAt]),
    )
    yield* file.append(rows.join(""))
    entries += rows.length
    after = page.next
  } while (after !== null)
  yield* file.keep
  return entries
}, Effect.scoped)
