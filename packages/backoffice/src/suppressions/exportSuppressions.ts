import { Effect } from "effect"
import { createPrivateFile } from "../createPrivateFile.ts"
import { csvRow } from "../csv/csvRow.ts"
import { suppressions } from "../lists/suppressions.ts"

const PAGE_SIZE = 1000

/** Writes the entries of a filter to a new file for `importSuppressions`, newest first. Returns their number. */
export const exportSuppressions = Effect.fn("exportSuppressions")(function* (
  filter: Parameters<typeof suppressions.read>[0],
  out: string,
) {
  const file = yield* createPrivateFile(out)
  yield* file.append(csvRow(["npi", "email", "reason", "program", "since"]))
  let entries = 0
  let after: string | null = null
  do {
    const page: Effect.Success<ReturnType<typeof suppressions.read>> = yield* suppressions.read(filter, {
      limit: PAGE_SIZE,
      after,
    })
    const rows = page.rows.map(({ kind, value, reason, programId, createdAt }) =>
      csvRow([...(kind === "npi" ? [value, null] : [null, value]), reason, programId, createdAt]),
    )
    yield* file.append(rows.join(""))
    entries += rows.length
    after = page.next
  } while (after !== null)
  yield* file.keep
  return entries
}, Effect.scoped)
