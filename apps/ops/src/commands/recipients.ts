import { BadLines, createRejectsFile, RejectsFile } from "@outreach/backoffice/csv/badLines"
import { clinician } from "@outreach/backoffice/operations/clinicians"
import { organizationFilter } from "@outreach/backoffice/operations/fields"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { ImportLog } from "@outreach/backoffice/recipients/ImportLog"
import type { importFile } from "@outreach/backoffice/recipients/importFile"
import { LineComparison } from "@outreach/backoffice/recipients/LineComparison"
import { OutcomeReader } from "@outreach/backoffice/recipients/OutcomeReader"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { CampaignId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { TOKEN_LENGTH } from "@outreach/domain/recipients/Recipient"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { Effect, Layer, Schema } from "effect"
import { operatorOrUser } from "../audit/audited.ts"
import { changing, group, revealing } from "../Declaration.ts"
import { flag, optional, switchFlag, text } from "../inputs/Input.ts"
import { limit } from "../listCommand.ts"
import { inputsOf } from "../operationCommand.ts"
import {
  formatRecord,
  formatRows,
  formatTable,
  printToStderr,
  quiet,
  refuse,
  showingProgress,
} from "../output/Output.ts"
import { erasedClinicians } from "../secretCipher.ts"

const MAX_SHOWN = 100

const load = changing({
  about: importRecipients.about,
  examples: importRecipients.examples!,
  input: {
    ...inputsOf(importRecipients.input),
    rejects: optional(
      text(
        "Write rejected lines with number and reason to a new CSV file; correct it and import it with --ignore-columns",
        "FILE",
      ),
    ),
    quiet,
  },
  *run({ quiet, rejects, ...input }) {
    const printBad = printBadLines(rejects)
    const file = rejects === undefined ? undefined : yield* createRejectsFile(rejects)
    const report = yield* importRecipients.run(input, yield* operatorOrUser).pipe(
      showingProgress(quiet),
      Effect.provideService(RejectsFile, file),
      Effect.tapError((error) => (error instanceof BadLines ? printBad(error) : Effect.void)),
    )
    yield* printBad(report)
    const { imported, updated, ...rest } = report
    return {
      campaignId: input.campaignId,
      ...(input.check ? { wouldImport: imported } : { imported, updated }),
      ...rest,
    }
  },
  format: ({ readAs, badLines, badCount: skipped, first, ...counts }) => [
    ...(first === undefined ? [] : [formatFirst(first)]),
    formatRecord({ ...counts, skipped }),
  ],
})

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

const Token = Schema.String.check(Schema.isPattern(new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`))).annotate({
  expected: `${TOKEN_LENGTH} letters and digits`,
})

const keys = { ...inputsOf(clinician), token: optional(flag(Token, "The token of a recipient")) }

const find = revealing({
  about: "Show what happened to one clinician, oldest first: records, messages, events, suppressions",
  examples: ["ops recipients find --npi 1234567893"],
  input: {
    ...keys,
    ...inputsOf({ organizationId: organizationFilter }),
    reveal: switchFlag("Show full NPIs and e-mail addresses"),
    limit,
  },
  *run({ organizationId, reveal, limit, ...given }) {
    const [key, ...others] = Object.entries(given) as ReadonlyArray<readonly [keyof typeof keys, string]>
    if (key === undefined || others.length > 0) {
      return yield* refuse("UnclearClinician", "Name the clinician in one way: with --npi, --email, --token or --id.")
    }
    const [by, value] = key
    const { find } = yield* TimelineReader
    const found = yield* find({ by, value, ...(organizationId && { organizationId }) }, limit)
    const recipients = found.recipients.map((recipient) =>
      reveal ? recipient : { ...recipient, npi: maskNpi(recipient.npi), email: maskEmail(recipient.email) },
    )
    const { entries, hasMore, erasedIn } = found
    return { recipients, entries, hasMore, erasedIn }
  },
  format: ({ recipients, entries, erasedIn }) => [
    formatRows(recipients, ["id", "token", "npi", "email", "organizationId", "campaignId", "programId"]),
    formatRows(entries, ["at", "kind", "detail", "campaignId", "programId", "eventId"]),
    ...(erasedIn.length === 0 ? [] : [`The clinician was erased and stays suppressed in ${erasedIn.join(", ")}.`]),
  ],
  note: ({ entries, hasMore }) =>
    hasMore ? `There is more than the newest ${entries.length}. See --limit.` : undefined,
})

const exportOutcomes = revealing({
  about: "Export the outcome of each recipient of a campaign to a CSV file",
  examples: [
    "ops recipients export --campaign cmp_… --out spring.csv",
    "ops recipients export --campaign cmp_… --bom --reveal --out spring.csv",
  ],
  input: {
    campaignId: flag(CampaignId, "The campaign's id, cmp_…"),
    out: text("Write to this new file, readable only by its owner", "FILE"),
    reveal: switchFlag("Include full NPIs and e-mail addresses"),
    bom: switchFlag("Start the file with a byte order mark, so that Excel detects UTF-8"),
    quiet,
  },
  *run({ campaignId, ...options }) {
    const { exportOutcomes } = yield* Effect.promise(() => import("../recipients/exportOutcomes.ts"))
    return { campaignId, out: options.out, recipients: yield* exportOutcomes(campaignId, options) }
  },
})

export const recipients = group({
  about: "The clinicians that campaigns are sent to",
  commands: { import: load, find, export: exportOutcomes },
  services: Layer.mergeAll(
    CampaignRepositoryPg,
    DigestRepositoryPg,
    ImportLog.layer,
    LineComparison.layer,
    OutcomeReader.layer,
    ProgramRepositoryPg,
    RecipientRepositoryPg,
    SuppressionRepositoryPg,
    Layer.provideMerge(TimelineReader.layer, erasedClinicians),
  ),
})

const printBadLines = (rejects: string | undefined) =>
  Effect.fnUntraced(function* ({ badCount, badLines }: Pick<BadLines, "badCount" | "badLines">) {
    for (const { line, reason } of badLines.slice(0, MAX_SHOWN)) yield* printToStderr(`line ${line}: ${reason}`)
    const hint = rejects === undefined ? "; --rejects FILE writes them all" : ""
    if (badCount > MAX_SHOWN) yield* printToStderr(`and ${badCount - MAX_SHOWN} more bad lines${hint}`)
    if (badCount > 0 && rejects !== undefined) yield* printToStderr(`The bad lines are in ${rejects}.`)
  })
