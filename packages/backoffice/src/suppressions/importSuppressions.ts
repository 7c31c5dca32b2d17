import type { ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import type { ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { Clinician } from "@outreach/domain/recipients/Clinician"
import {
  isReasonIn,
  SUPPRESSION_REASONS,
  type SuppressionReason,
  type SuppressionScope,
} from "@outreach/domain/suppressions/Suppression"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { parseInput } from "@outreach/domain/textSchema"
import { Array as Arr, Effect, Result, Stream } from "effect"
import { type HeaderOptions, readHeader } from "../csv/readHeader.ts"
import { BadLines, checkFile, isBad, readLines } from "../csv/readLines.ts"
import { TaskProgress } from "../TaskProgress.ts"

const BATCH_SIZE = 500

interface Entry {
  readonly clinician: Clinician
  readonly reason: SuppressionReason
  readonly scope: SuppressionScope
}

/**
 * Suppresses the clinicians of a CSV file with the columns `npi`, `email` or both, and optionally `reason`, `program` and `since`, as
 * written by `exportSuppressions`. A bad line prevents the whole import.
 */
export const importSuppressions = Effect.fn("importSuppressions")(function* (
  scope: SuppressionScope,
  file: string,
  options: Pick<HeaderOptions, "ignoreColumns" | "map"> & {
    /** The reason for all lines, instead of the file's. */
    readonly reason?: SuppressionReason
  },
) {
  const header = yield* readHeader(file, "npi or email", { ...options, fieldsIfThere: ["reason", "program", "since"] })
  const programs = scope.programId === undefined ? yield* (yield* ProgramRepository).list(scope.organizationId) : []
  const parse = createParser(scope, new Set(programs.map(({ id }) => id)), options.reason)

  const { lines, bad } = yield* checkFile(header, parse)
  if (bad.badCount > 0) return yield* new BadLines({ imported: 0, alreadyThere: 0, ...bad })
  const report = { lines, added: 0, withdrawn: 0 }
  const bar = yield* (yield* TaskProgress).bar("Suppressing", lines)
  yield* readLines(header).pipe(
    Stream.grouped(BATCH_SIZE),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const entries = batch.map((line): Entry => {
          const parsed = isBad(line) ? Result.fail(line.reason) : parse(line)
          return Result.getOrThrowWith(parsed, () => new Error("The file changed while it was read."))
        })
        const groups = Arr.groupBy(entries, ({ reason, scope }): string => `${reason} ${scope.programId ?? ""}`)
        for (const group of Object.values(groups)) {
          const [{ scope, reason }] = group
          const clinicians = group.map(({ clinician }) => clinician)
          const { added, withdrawn } = yield* suppressClinicians(scope, clinicians, reason)
          report.added += added
          report.withdrawn += withdrawn
        }
        yield* bar.advance(batch.length)
      }),
    ),
  )
  return report
}, Effect.scoped)

/** Creates the function that parses a line, or fails with the reason why it is invalid. */
const createParser =
  (scope: SuppressionScope, programIds: ReadonlySet<string>, reasonOfAll: SuppressionReason | undefined) =>
  ({ npi, email, fields = {} }: ImportLine): Result.Result<Entry, string> => {
    const { reason: written = "operator" } = fields
    const reason = reasonOfAll ?? SUPPRESSION_REASONS.find((known) => known === written)
    if (reason === undefined) {
      return Result.fail(`its reason is none of ${SUPPRESSION_REASONS.join(", ")}; --reason sets one for all lines`)
    }
    const clinician = parseClinician({ npi: npi || null, email: email || null })
    if (Result.isFailure(clinician)) return Result.fail(clinician.failure.reason)
    const program = scope.programId === undefined ? fields["program"] : undefined
    if (program !== undefined && !programIds.has(program)) {
      return Result.fail("its program is none of the organization")
    }
    const narrowed = program === undefined ? scope : { programId: program as ProgramId }
    if (!isReasonIn(narrowed, reason)) {
      return Result.fail(
        reason === "account_created"
          ? "an account binds one program; import it with --program"
          : "an address that bounced or complained is suppressed in all programs; import it with --organization",
      )
    }
    return Result.succeed({ clinician: clinician.success, reason, scope: narrowed })
  }

const parseClinician = parseInput(Clinician)
