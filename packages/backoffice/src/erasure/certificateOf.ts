import type { ErasureCertificate } from "@outreach/domain/erasure/Erasure"
import { labelOf, PERSONAL_DATA, PERSONAL_TABLES } from "@outreach/domain/erasure/PersonalData"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Fact, Table } from "../operations/Operation.ts"

/** Data that an erasure doesn't reach, with what to do about it, as in docs/clinicians.md. */
export const OUTSIDE = [
  ["SMTP server, its log, return-path mailboxes", "addresses, messages", "delete messages; let log lines expire"],
  ["backups and WAL archives", "everything", "let them expire"],
  ["import files, `--rejects`, exports, previews", "NPIs, addresses, tokens, fields", "delete"],
  ["lists given to other services", "addresses", "ask them to erase"],
  ["reverse proxies", "IP addresses, URLs of links (recipient id; maybe a token or a field)", "let logs expire"],
  ["the partner", "webhooks, lookups, feed", "sees the change in the feed and erases independently"],
  ["logs, metrics, traces", "only ids", "nothing to do"],
] as const

/** Returns the facts and tables of an erasure's certificate. */
export const certificateOf = (
  { hashes, counts, ...certificate }: ErasureCertificate,
  { id, name }: { readonly id: OrganizationId; readonly name: string },
): { readonly facts: Readonly<Record<string, Fact>>; readonly tables: ReadonlyArray<Table> } => {
  const kept = PERSONAL_TABLES.flatMap((table) => {
    const data = PERSONAL_DATA[table]
    const columns = "kept" in data ? Object.entries<string>(data.kept) : []
    return columns.map(([column, reason]) => [`${labelOf(table)}: \`${column}\``, reason])
  })
  return {
    facts: {
      Certificate: certificate.erasureId,
      Organization: { id, name },
      "Erased by": certificate.operator,
      Started: { at: certificate.startedAt },
      Finished: { at: certificate.finishedAt, none: "Interrupted. Run the same erasure again to finish it." },
      Release: certificate.release,
      "Keyed hash": certificate.subject,
    },
    tables: [
      {
        title: "Erased data",
        head: ["data", "rows", "effect"],
        rows: PERSONAL_TABLES.map((table) => {
          const effect = "deleted" in PERSONAL_DATA[table] ? "deleted" : "identifying data removed"
          return [labelOf(table), counts[table] ?? 0, effect]
        }),
      },
      {
        title: "Data that remains in the database",
        head: ["data", "why"],
        rows: [[`Keyed hashes: ${hashes.length}`, "no campaign sends e-mails to the clinician again"], ...kept],
      },
      {
        title: "Data outside the database, which the service can't erase",
        head: ["place", "data", "what to do"],
        rows: OUTSIDE,
      },
    ],
  }
}
