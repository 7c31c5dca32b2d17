import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import { csvRow } from "@outreach/backoffice/csv/csvRow"
import {
  type SuppressionCursor,
  type SuppressionListFilter,
  SuppressionReader,
} from "@outreach/backoffice/suppressions/SuppressionReader"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { Array as Arr, Effect } from "effect"
import type { ExportFormat } from "./exportFormats.ts"

const PAGE_SIZE = 1000

interface Form {
  readonly head: string
  readonly write: (entries: ReadonlyArray<Suppression>) => string
}

const byLine =
  (toCells: (entry: Suppression) => ReadonlyArray<string | null>) => (entries: ReadonlyArray<Suppression>) =>
    entries.map((entry) => csvRow(toCells(entry))).join("")

/** A body of a request on each line, with at most `size` addresses. */
const byBody =
  (size: number, toBody: (emails: ReadonlyArray<string>) => object) => (entries: ReadonlyArray<Suppression>) =>
    Arr.chunksOf(entries, size)
      .map((chunk) => `${JSON.stringify(toBody(chunk.map(({ value }) => value)))}\n`)
      .join("")

const FORMS: Readonly<Record<ExportFormat, Form>> = {
  ours: {
    head: csvRow(["npi", "email", "reason", "program", "since"]),
    write: byLine(({ kind, value, reason, programId, createdAt }) => [
      ...(kind === "npi" ? [value, null] : [null, value]),
      ...[reason, programId, createdAt],
    ]),
  },
  // CreateImportJob of the API v2 with the format CSV: no header, and one of two reasons.
  ses: { head: "", write: byLine(({ value, reason }) => [value, reason === "bounced" ? "BOUNCE" : "COMPLAINT"]) },
  // POST /message-streams/{stream}/suppressions takes 50 addresses.
  postmark: {
    head: "",
    write: byBody(50, (emails) => ({ Suppressions: emails.map((EmailAddress) => ({ EmailAddress })) })),
  },
  // POST /v3/asm/suppressions/global.
  sendgrid: { head: "", write: byBody(1000, (emails) => ({ recipient_emails: emails })) },
  // The import of subscribers in the mode blocklist needs this column alone.
  listmonk: { head: csvRow(["email"]), write: byLine(({ value }) => [value]) },
}

/** Writes the entries of a filter to a new file, newest first; returns how many, and how many the form has no place for. */
export const exportSuppressions = Effect.fn("exportSuppressions")(function* (
  filter: SuppressionListFilter,
  format: ExportFormat,
  out: string,
) {
  const { list } = yield* SuppressionReader
  const { head, write } = FORMS[format]
  const file = yield* createPrivateFile(out)
  yield* file.append(head)
  const report = { entries: 0, leftOut: 0 }
  let after: SuppressionCursor | null = null
  do {
    const page: Effect.Success<ReturnType<typeof list>> = yield* list(filter, { limit: PAGE_SIZE, after })
    const taken = page.suppressions.filter((entry) => format === "ours" || isForOthers(entry))
    yield* file.append(write(taken))
    report.entries += taken.length
    report.leftOut += page.suppressions.length - taken.length
    after = page.next
  } while (after !== null)
  yield* file.keep
  return report
}, Effect.scoped)

/** An account says that a program must not invite somebody, and not that nobody may write to them. */
const isForOthers = ({ kind, reason }: Suppression): boolean => kind === "email" && reason !== "account_created"
