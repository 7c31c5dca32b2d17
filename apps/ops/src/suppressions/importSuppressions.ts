import { BadLines, checkFile } from "@outreach/backoffice/csv/badLines"
import { type ColumnMap, columnKey } from "@outreach/backoffice/csv/ColumnMap"
import { ImportProgress } from "@outreach/backoffice/csv/ImportProgress"
import { readHeader } from "@outreach/backoffice/csv/readHeader"
import { isBad, readLines } from "@outreach/backoffice/csv/readLines"
import { recognizeFormat } from "@outreach/backoffice/csv/recognizeFormat"
import type { ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import type { ProgramId } from "@outreach/domain/Identifier"
import { parseInput } from "@outreach/domain/parseInput"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Clinician } from "@outreach/domain/suppressions/Clinician"
import { isReasonIn, type SuppressionReason, type SuppressionScope } from "@outreach/domain/suppressions/Suppression"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { Array as Arr, Effect, Result, Stream } from "effect"
import { jsonAsCsv } from "./jsonAsCsv.ts"
import { recognizeForm, type SuppressionForm } from "./suppressionForms.ts"

const BATCH_SIZE = 500

/** The columns beside the NPI and the address from which a form tells what a line means, and in which program it binds. */
const MEANING_COLUMNS = ["reason", "status", "type", "suppressionreason", "origin", "program"]

interface Entry {
  readonly clinician: Clinician
  readonly reason: SuppressionReason
  readonly scope: SuppressionScope
}

/**
 * Suppresses the clinicians of a file of NPIs and addresses, or of a list that another service has exported. If a line is bad, suppresses nobody.
 *
 * Lines of another service that say nothing against their address, and those with an address that is not valid, are left out and counted.
 */
export const importSuppressions = Effect.fn("importSuppressions")(function* (
  scope: SuppressionScope,
  file: string,
  options: {
    readonly ignoreColumns: boolean
    readonly map?: ColumnMap
    /** Why all are suppressed, whatever the file says. */
    readonly reason?: SuppressionReason
  },
) {
  const source = yield* jsonAsCsv(file)
  const columns = (yield* recognizeFormat(source)).sample[0]?.fields?.map(columnKey) ?? []
  const form = options.map === undefined ? recognizeForm(columns) : undefined
  const header = yield* readHeader(
    source,
    "npi or email",
    form === undefined ? options : { ...options, ...readAs(form) },
  )
  const progress = yield* ImportProgress
  if (form !== undefined) yield* progress.say(`These are ${form.name}.`)
  const programs = scope.programId === undefined ? yield* (yield* ProgramRepository).list(scope.organizationId) : []
  const parse = createParser(scope, new Set(programs.map(({ id }) => id)), form, options.reason)

  const report = { form: form?.name ?? null, lines: 0, added: 0, withdrawn: 0, harmless: 0, invalid: 0 }
  const { lines, bad } = yield* checkFile(header, (line) => {
    const parsed = parse(line)
    if (parsed === "harmless" || parsed === "invalid") report[parsed]++
    return typeof parsed === "object" && "bad" in parsed ? parsed.bad : undefined
  })
  if (bad.badCount > 0) return yield* new BadLines({ imported: 0, alreadyThere: 0, ...bad })
  report.lines = lines
  const bar = yield* progress.bar("Suppressing", lines)
  yield* readLines(header).pipe(
    Stream.grouped(BATCH_SIZE),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const entries = batch.flatMap((line): ReadonlyArray<Entry> => {
          const parsed = isBad(line) ? { bad: line.reason } : parse(line)
          if (typeof parsed === "string") return []
          if ("bad" in parsed) throw new Error("The file changed while it was read.")
          return [parsed]
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

const readAs = ({ email = "email" }: SuppressionForm) => ({
  ...(email !== "email" && { map: new Map([[email, "email"]]) }),
  ignoreColumns: true,
  fieldsIfThere: MEANING_COLUMNS,
})

/** Creates the function that reads a line: who is suppressed, why and where; or that it is left out, or why it is bad. */
const createParser =
  (
    scope: SuppressionScope,
    programIds: ReadonlySet<string>,
    form: SuppressionForm | undefined,
    reasonOfAll: SuppressionReason | undefined,
  ) =>
  ({ npi, email, fields = {} }: ImportLine): Entry | "harmless" | "invalid" | { readonly bad: string } => {
    const reason = reasonOfAll ?? (form === undefined ? "operator" : form.meaningOf(fields))
    if (reason === "nothing") return "harmless"
    if (reason === undefined) {
      return { bad: `its reason is none that ${form?.name} are known to have; --reason says why all are suppressed` }
    }
    const clinician = parseClinician({ npi: npi || null, email: email || null })
    if (Result.isFailure(clinician)) {
      return form === undefined || form.isStrict ? { bad: clinician.failure.reason } : "invalid"
    }
    const program = scope.programId === undefined ? fields["program"] : undefined
    if (program !== undefined && !programIds.has(program)) return { bad: "its program is none of the organization" }
    const narrowed = program === undefined ? scope : { programId: program as ProgramId }
    if (!isReasonIn(narrowed, reason)) {
      return {
        bad:
          reason === "account_created"
            ? "an account binds one program; import it with --program"
            : "an address that bounced or complained is suppressed in all programs; import it with --organization",
      }
    }
    return { clinician: clinician.success, reason, scope: narrowed }
  }

const parseClinician = parseInput(Clinician)
