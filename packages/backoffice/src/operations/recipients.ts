import { DescribedError } from "@outreach/domain/DescribedError"
import { CampaignId, ImportId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { TOKEN_LENGTH } from "@outreach/domain/recipients/Recipient"
import { FieldNamesOrAll } from "@outreach/domain/recipients/RecipientFields"
import { Effect, Schema } from "effect"
import { createRejectsFile, RejectsFile } from "../csv/badLines.ts"
import { ColumnMapText } from "../csv/ColumnMap.ts"
import { formatCounted } from "../format.ts"
import { pageFields } from "../lists/List.ts"
import { ImportLog } from "../recipients/ImportLog.ts"
import { type ClinicianKey, TimelineReader } from "../recipients/TimelineReader.ts"
import { clinician } from "./clinicians.ts"
import { checkBox, field, file, newFile, organizationFilter, required } from "./Field.ts"
import { operation } from "./Operation.ts"

// Loaded when needed, because they load the reader of files.
const imports = Effect.promise(() => import("../recipients/importFile.ts"))
const exports = Effect.promise(() => import("../recipients/exportOutcomes.ts"))

/** The contents of an import file's columns. */
export const columns = {
  map: field(ColumnMapText, "Columns", {
    hint: 'npi, email or a field for each other column, by name or as "column 3"',
    example: "E-Mail=email,NPI Number=npi",
  }),
  ignoreColumns: checkBox("Ignore other columns instead of rejecting the file"),
}

export const importRecipients = operation("recipients import", {
  role: "operator",
  about: "Import recipients. Can be repeated: lines aren't imported twice",
  label: "Import",
  isLong: true,
  input: {
    campaignId: required(field(CampaignId, "Draft or paused campaign")),
    check: checkBox("Show how the first ten lines are understood and what an import would do, and import nothing"),
    skipBad: checkBox("Skip invalid lines instead of rejecting the import"),
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
    rejects: file(
      "Write rejected lines with number and reason to a new CSV file; correct it and import it with --ignore-columns",
    ),
  },
  run: ({ campaignId, file, rejects, ...options }, operator) =>
    Effect.gen(function* () {
      const { importFile } = yield* imports
      const run = importFile(campaignId, file, { ...options, operator })
      return yield* rejects === undefined
        ? run
        : Effect.provideServiceEffect(run, RejectsFile, createRejectsFile(rejects))
    }).pipe(Effect.scoped),
  done: ({ imported, updated, badCount }) =>
    `Imported: ${formatCounted(imported, "new recipient")}, ${formatCounted(updated, "update")}, ${formatCounted(badCount, "rejected line")}.`,
  examples: [
    "ops recipients import --campaign cmp_… clinicians.csv --check",
    'ops recipients import --campaign cmp_… clinicians.csv --map "E-Mail=email,NPI Number=npi" --ignore-columns',
  ],
})

export const showImport = operation("imports show", {
  access: "reads",
  about: "List the first thousand rejected lines of an import by number and reason",
  of: { importId: ImportId },
  run: ({ importId }) =>
    Effect.map(
      ImportLog.use(({ find }) => find(importId)),
      ({ rejects }) => ({ data: rejects }),
    ),
})

const Token = Schema.String.check(Schema.isPattern(new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`))).annotate({
  expected: `${TOKEN_LENGTH} letters and digits`,
})

class UnclearClinician extends DescribedError(
  "UnclearClinician",
  "Name the clinician in one way: with --npi, --email, --token or --id.",
) {}

export const findClinician = operation("recipients find", {
  access: "reveals",
  about: "Show what happened to one clinician, oldest first: records, messages, events, suppressions",
  input: {
    ...clinician,
    token: field(Token, "The token of a recipient"),
    organizationId: organizationFilter,
    reveal: checkBox("Show full NPIs and e-mail addresses"),
    limit: pageFields.limit,
  },
  run: ({ organizationId, reveal, limit, ...given }) =>
    Effect.gen(function* () {
      const [key, ...others] = Object.entries(given) as ReadonlyArray<readonly [ClinicianKey["by"], string]>
      if (key === undefined || others.length > 0) return yield* new UnclearClinician()
      const [by, value] = key
      const { find } = yield* TimelineReader
      const { recipients, ...found } = yield* find({ by, value, ...(organizationId && { organizationId }) }, limit)
      const shown = recipients.map((recipient) =>
        reveal ? recipient : { ...recipient, npi: maskNpi(recipient.npi), email: maskEmail(recipient.email) },
      )
      return { recipients: shown, ...found }
    }),
  done: ({ entries, hasMore }) => (hasMore ? `There is more than the newest ${entries.length}. See --limit.` : ""),
  examples: ["ops recipients find --npi 1234567893"],
})

export const exportOutcomes = operation("recipients export", {
  access: "reveals",
  about: "Export the outcome of each recipient of a campaign to a CSV file",
  isLong: true,
  input: {
    campaignId: required(field(CampaignId, "Campaign")),
    out: required(newFile),
    reveal: checkBox("Include full NPIs and e-mail addresses"),
    bom: checkBox("Start the file with a byte order mark, so that Excel detects UTF-8"),
  },
  run: Effect.fnUntraced(function* ({ campaignId, ...options }) {
    const recipients = yield* (yield* exports).exportOutcomes(campaignId, options)
    return { campaignId, out: options.out, recipients }
  }),
  examples: [
    "ops recipients export --campaign cmp_… --out spring.csv",
    "ops recipients export --campaign cmp_… --bom --reveal --out spring.csv",
  ],
})
