import { CampaignId } from "@outreach/domain/Identifier"
import { FieldNamesOrAll } from "@outreach/domain/recipients/RecipientFields"
import { Effect } from "effect"
import { ColumnMapText } from "../csv/ColumnMap.ts"
import { formatCounted } from "../format.ts"
import { checkBox, field, file, required } from "./Field.ts"
import { operation } from "./Operation.ts"

// Loaded when needed, because it loads the reader of files.
const imports = Effect.promise(() => import("../recipients/importFile.ts"))

/** The contents of an import file's columns. */
export const columns = {
  map: field(ColumnMapText, "Columns", {
    hint: 'npi, email or a field for each other column, by name or as "column 3"',
    example: "E-Mail=email,NPI Number=npi",
  }),
  ignoreColumns: checkBox("Ignore other columns instead of rejecting the file", "ignored"),
}

export const importRecipients = operation("recipients import", {
  role: "operator",
  about: "Import recipients. Can be repeated: lines aren't imported twice",
  label: "Import",
  input: {
    campaignId: required(field(CampaignId, "Draft or paused campaign")),
    check: checkBox(
      "Show how the first ten lines are understood and what an import would do, and import nothing",
      "checked",
    ),
    skipBad: checkBox("Skip invalid lines instead of rejecting the import", "skipped"),
    ...columns,
    fields: field(FieldNamesOrAll, "Further columns that templates may use, or all", {
      example: "first_name,specialty",
    }),
    file: required(
      file("List", {
        hint: "A text file with one clinician per line and commas, semicolons, tabs or pipes between columns; its first line names the columns npi and email",
        accept: ".csv,.tsv,.txt,text/csv,text/plain",
        isArgument: true,
      }),
    ),
  },
  run: ({ campaignId, file, ...options }, operator) =>
    Effect.flatMap(imports, ({ importFile }) => importFile(campaignId, file, { ...options, operator })),
  done: ({ imported, updated, badCount }) =>
    `Imported: ${formatCounted(imported, "new recipient")}, ${formatCounted(updated, "update")}, ${formatCounted(badCount, "rejected line")}.`,
  examples: [
    "ops recipients import --campaign cmp_… clinicians.csv --check",
    'ops recipients import --campaign cmp_… clinicians.csv --map "E-Mail=email,NPI Number=npi" --ignore-columns',
  ],
})
