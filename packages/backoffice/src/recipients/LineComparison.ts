import type { ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { DatabaseService } from "@outreach/postgres/adapter"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

export const REPEATED = "repeated"

const decodeLines = decodeRows({ number: Schema.Int, ofNpi: Schema.Int, ofEmail: Schema.Int })

/** Compares the valid lines of a file in a temporary table. Call its methods in order, in one transaction, which drops the table. */
export class LineComparison extends DatabaseService<LineComparison>()(
  "backoffice/recipients/LineComparison",
  (sql) => ({
    begin: sql`
    create temporary table compared_lines (number integer, npi text collate "C", email text collate "C") on commit drop
  `.pipe(Effect.asVoid),

    add: (lines: ReadonlyArray<Pick<ImportLine, "number" | "npi" | "email">>) =>
      sql`
      insert into compared_lines
      select * from unnest(${lines.map(({ number }) => number)}::integer[], ${lines.map(({ npi }) => npi)}::text[],
        ${lines.map(({ email }) => email.toLowerCase())}::text[])`.pipe(Effect.asVoid),

    /** Returns each line with an NPI or address of an earlier line by its number: `REPEATED` if both match, otherwise the fault. */
    find: sql`
    select number, of_npi as "ofNpi", of_email as "ofEmail"
    from (
      select number, min(number) over (partition by npi) as of_npi, min(number) over (partition by email) as of_email
      from compared_lines
    ) compared
    where of_npi < number or of_email < number`.pipe(
      decodeLines,
      Effect.map((lines): ReadonlyMap<number, string> => new Map(lines.map((line) => [line.number, faultOf(line)]))),
    ),
  }),
) {}

const faultOf = ({ number, ofNpi, ofEmail }: Readonly<Record<"number" | "ofNpi" | "ofEmail", number>>): string => {
  if (ofNpi === ofEmail) return REPEATED
  return ofNpi < number
    ? `line ${ofNpi} has this NPI with another e-mail address: keep the line that is right`
    : `line ${ofEmail} has this e-mail address with another NPI: keep the line that is right`
}
