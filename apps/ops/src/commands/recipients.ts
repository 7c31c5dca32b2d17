import { BadLines } from "@outreach/backoffice/csv/badLines"
import { imports as importList } from "@outreach/backoffice/lists/imports"
import { exportOutcomes, findClinician, importRecipients, showImport } from "@outreach/backoffice/operations/recipients"
import type { importFile } from "@outreach/backoffice/recipients/importFile"
import { Effect } from "effect"
import { command, withRun } from "../command.ts"
import { group } from "../group.ts"
import { formatRecord, formatRows, formatTable, printToStderr } from "../output/Output.ts"

const MAX_SHOWN = 100

/** Prints the rejected lines, also if they make it fail. */
const load = withRun(
  importRecipients,
  Effect.fnUntraced(function* (input, operator) {
    const { campaignId, check, rejects } = input
    const printBad = printBadLines(rejects)
    const report = yield* Effect.tapError(importRecipients.run(input, operator), (error) =>
      error instanceof BadLines ? printBad(error) : Effect.void,
    )
    yield* printBad(report)
    const { imported, updated, ...rest } = report
    return { campaignId, ...(check ? { wouldImport: imported } : { imported, updated }), ...rest }
  }),
)

const formatFirst = (lines: NonNullable<Effect.Success<ReturnType<typeof importFile>>["first"]>): string => {
  const names = [...new Set(lines.flatMap(({ fields }) => Object.keys(fields)))]
  return formatTable(
    ["line", "npi", "email", ...names, "fault"],
    lines.map(({ line, npi, email, fields, fault }) => [
      line,
      npi,
      email,
      ...names.map((name) => fields[name] ?? null),
      fault,
    ]),
  )
}

export const recipients = group("recipients", "The clinicians that campaigns are sent to", [
  command(load, {
    format: ({ readAs, badLines, badCount: skipped, first, ...counts }) => [
      ...(first === undefined ? [] : [formatFirst(first)]),
      formatRecord({ ...counts, skipped }),
    ],
  }),
  command(findClinician, {
    format: ({ recipients, entries, erasedIn }) => [
      formatRows(recipients, ["id", "token", "npi", "email", "organizationId", "campaignId", "programId"]),
      formatRows(entries, ["at", "kind", "detail", "campaignId", "programId", "eventId"]),
      ...(erasedIn.length === 0 ? [] : [`The clinician was erased and stays suppressed in ${erasedIn.join(", ")}.`]),
    ],
  }),
  exportOutcomes,
])

const printBadLines = (rejects: string | undefined) =>
  Effect.fnUntraced(function* ({ badCount, badLines }: Pick<BadLines, "badCount" | "badLines">) {
    for (const { line, reason } of badLines.slice(0, MAX_SHOWN)) yield* printToStderr(`line ${line}: ${reason}`)
    const hint = rejects === undefined ? "; --rejects FILE writes them all" : ""
    if (badCount > MAX_SHOWN) yield* printToStderr(`and ${badCount - MAX_SHOWN} more bad lines${hint}`)
    if (badCount > 0 && rejects !== undefined) yield* printToStderr(`The bad lines are in ${rejects}.`)
  })

export const imports = group("imports", "Files of recipients that were imported", [
  importList,
  command(showImport, { format: ({ data }) => formatRows(data, ["line", "reason"]) }),
])
