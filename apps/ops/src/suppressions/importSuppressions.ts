import type { ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import type { ProgramId } from "@outreach/domain/Identifier"
import { parseInput, reasonNotValid } from "@outreach/domain/parseInput"
import { Clinician } from "@outreach/domain/suppressions/Clinician"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { Effect, Result, Stream } from "effect"
import { BadLines, checkFile } from "../csv/badLines.ts"
import type { ColumnMap } from "../csv/ColumnMap.ts"
import { readHeader } from "../csv/readHeader.ts"
import { isBad, isGood, readLines } from "../csv/readLines.ts"
import { printProgress } from "../output/Output.ts"

const BATCH_SIZE = 500

/** Suppresses every clinician of a CSV file with NPIs, addresses, or both. If a line is bad, suppresses nobody. */
export const importSuppressions = Effect.fn("importSuppressions")(function* (
  programId: ProgramId,
  file: string,
  options: { readonly ignoreColumns: boolean; readonly map?: ColumnMap; readonly quiet: boolean },
) {
  const header = yield* readHeader(file, "npi or email", options)
  const { lines, bad } = yield* checkFile(header, (line) => reasonAgainst(toClinician(line)), options)
  if (bad.badCount > 0) return yield* new BadLines({ imported: 0, alreadyThere: 0, ...bad })
  const report = { lines, added: 0, withdrawn: 0 }
  const bar = yield* printProgress("Suppressing", lines, options)
  yield* readLines(header).pipe(
    Stream.grouped(BATCH_SIZE),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const clinicians = Result.all(batch.filter(isGood).map((line) => parseClinician(toClinician(line))))
        if (batch.some(isBad) || Result.isFailure(clinicians)) {
          return yield* Effect.die(new Error("The file changed while it was read."))
        }
        const { added, withdrawn } = yield* suppressClinicians({ programId }, clinicians.success, "operator")
        report.added += added
        report.withdrawn += withdrawn
        yield* bar.advance(batch.length)
      }),
    ),
  )
  return report
}, Effect.scoped)

const reasonAgainst = reasonNotValid(Clinician)
const parseClinician = parseInput(Clinician)

const toClinician = ({ npi, email }: ImportLine) => ({ npi: npi || null, email: email || null })
