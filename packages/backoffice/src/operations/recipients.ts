import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { DescribedError } from "@outreach/domain/DescribedError"
import { CampaignId } from "@outreach/domain/Identifier"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { TOKEN_LENGTH } from "@outreach/domain/recipients/Recipient"
import { FieldNamesOrAll } from "@outreach/domain/recipients/RecipientFields"
import { Effect, Schema } from "effect"
import { createPrivateFile } from "../createPrivateFile.ts"
import { ColumnMapText } from "../csv/ColumnMap.ts"
import { csvHead, csvLine } from "../csv/csvTable.ts"
import { type BadLineReport, BadLines, createRejectsFile, RejectsFile } from "../csv/readLines.ts"
import type { UnderstoodLine } from "../recipients/importFile.ts"
import { OUTCOME_COLUMNS, OutcomeReader } from "../recipients/OutcomeReader.ts"
import { type ClinicianKey, TimelineReader } from "../recipients/TimelineReader.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { clinician } from "./clinicians.ts"
import { checkBox, field, file, filterBy, newFile, required } from "./Field.ts"
import { pageFields } from "./List.ts"
import { operation, type Part, rowsPart } from "./Operation.ts"

// Loaded when needed, because it loads the reader of files.
const importing = Effect.promise(() => import("../recipients/importFile.ts"))

/** The contents of an import file's columns. */
export const columns = {
  map: field(ColumnMapText, "Columns", {
    hint: 'npi, email or a field for each other column, by name or as "column 3"',
    example: "E-Mail=email,NPI Number=npi",
  }),
  ignoreColumns: checkBox("Ignore other columns instead of rejecting the file"),
}

const MAX_SHOWN = 100

/** Reports the first rejected lines, and the file of all of them. */
const warnOf = (rejects: string | undefined) =>
  Effect.fnUntraced(function* ({ badCount, badLines }: Readonly<BadLineReport> | BadLines) {
    const { warn } = yield* TaskProgress
    for (const { line, reason } of badLines.slice(0, MAX_SHOWN)) yield* warn(`line ${line}: ${reason}`)
    const hint = rejects === undefined ? "; --rejects FILE writes them all" : ""
    if (badCount > MAX_SHOWN) yield* warn(`and ${badCount - MAX_SHOWN} more bad lines${hint}`)
    if (badCount > 0 && rejects !== undefined) yield* warn(`The bad lines are in ${rejects}.`)
  })

/** Shows the first lines of a list as an import understands them. */
const firstLines = (lines: ReadonlyArray<UnderstoodLine>): Part => {
  const names = [...new Set(lines.flatMap(({ fields }) => Object.keys(fields)))]
  const rows = lines.map(({ line, npi, email, fields, fault }) => [
    line,
    npi,
    email,
    ...names.map((name) => fields[name] ?? null),
    fault,
  ])
  return { table: { head: ["line", "npi", "email", ...names, "fault"], rows } }
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
  *run({ campaignId, file, rejects, ...options }, operator) {
    const { importFile } = yield* importing
    const warn = warnOf(rejects)
    const run = Effect.tapError(importFile(campaignId, file, { ...options, operator }), (error) =>
      error instanceof BadLines ? warn(error) : Effect.void,
    )
    const report = yield* rejects === undefined
      ? run
      : Effect.provideServiceEffect(run, RejectsFile, createRejectsFile(rejects))
    yield* warn(report)
    const { imported, updated, ...rest } = report
    const counts: Partial<Record<"imported" | "updated" | "wouldImport", number>> = options.check
      ? { wouldImport: imported }
      : { imported, updated }
    return { campaignId, ...counts, ...rest }
  },
  show: ({ readAs, badLines, badCount: skipped, first, ...counts }) => [
    ...(first === undefined ? [] : [firstLines(first)]),
    { fields: { ...counts, skipped } },
  ],
  examples: [
    "ops recipients import --campaign cmp_… clinicians.csv --check",
    'ops recipients import --campaign cmp_… clinicians.csv --map "E-Mail=email,NPI Number=npi" --ignore-columns',
  ],
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
  label: "Find",
  input: {
    ...clinician,
    token: field(Token, "The token of a recipient"),
    organizationId: filterBy.organization,
    reveal: checkBox("Show full NPIs and e-mail addresses"),
    limit: pageFields.limit,
  },
  *run({ organizationId, reveal, limit, ...given }) {
    const [key, ...others] = Object.entries(given) as ReadonlyArray<readonly [ClinicianKey["by"], string]>
    if (key === undefined || others.length > 0) return yield* new UnclearClinician()
    const [by, value] = key
    const { find } = yield* TimelineReader
    const { recipients, ...found } = yield* find({ by, value, ...(organizationId && { organizationId }) }, limit)
    return { recipients: reveal ? recipients : recipients.map(masked), ...found }
  },
  show: ({ recipients, entries, deliveries, erasedIn }) => [
    rowsPart(recipients, ["id", "token", "npi", "email", "organizationId", "campaignId", "programId"]),
    rowsPart(entries, ["at", "kind", "detail", "campaignId", "programId", "eventId"]),
    ...(deliveries.length === 0 ? [] : [rowsPart(deliveries, ["eventId", "id", "state", "endpointId", "url"])]),
    ...(erasedIn.length === 0 ? [] : [`The clinician was erased and stays suppressed in ${erasedIn.join(", ")}.`]),
  ],
  done: ({ entries, hasMore }) => (hasMore ? `There is more than the newest ${entries.length}. See --limit.` : ""),
  examples: ["ops recipients find --npi 1234567893"],
})

const BYTE_ORDER_MARK = "\uFEFF"

const masked = <Person extends { readonly npi: string | null; readonly email: string | null }>(
  person: Person,
): Person => ({
  ...person,
  npi: person.npi && maskNpi(person.npi),
  email: person.email && maskEmail(person.email),
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
  *run({ campaignId, out, reveal, bom }) {
    const campaigns = yield* CampaignRepository
    const { organizationId } = yield* campaigns.find(campaignId)
    const file = yield* createPrivateFile(out)
    const { bar } = yield* TaskProgress
    const { advance } = yield* bar("Exporting", (yield* campaigns.progress(campaignId)).recipients)
    let recipients = 0
    yield* file.append(`${bom ? BYTE_ORDER_MARK : ""}${csvHead(OUTCOME_COLUMNS)}`)
    yield* (yield* OutcomeReader).forEachBatch({ organizationId, campaignId }, (outcomes) => {
      recipients += outcomes.length
      const rows = outcomes.map((outcome) => csvLine(OUTCOME_COLUMNS, reveal ? outcome : masked(outcome)))
      return Effect.andThen(file.append(rows.join("")), advance(outcomes.length))
    })
    yield* file.keep
    return { campaignId, out, recipients }
  },
  examples: ["ops recipients export --campaign cmp_… --bom --out spring.csv"],
})
