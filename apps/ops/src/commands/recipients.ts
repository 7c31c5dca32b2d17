import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { CampaignId } from "@outreach/domain/Identifier"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { SubjectTestRepositoryPg } from "@outreach/postgres/campaigns/SubjectTestRepositoryPg"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import type { BadLines } from "../csv/ImportErrors.ts"
import { erasedClinicians } from "../erasedClinicians.ts"
import { ignoreColumns } from "../inputs/commonFlags.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { formatRecord, print, printToStderr } from "../output/Output.ts"
import { find } from "../recipients/find.ts"
import type { ImportReport } from "../recipients/importFile.ts"

const MAX_SHOWN = 100

// Loaded when the flag is given, because it loads the template language.
const fieldNames = Effect.promise(
  async () => (await import("@outreach/domain/recipients/RecipientFields")).FieldNamesOrAll,
)

const load = changing(
  "import",
  {
    campaign: parsedFlag("campaign", CampaignId, "The id of a draft or paused campaign, cmp_…"),
    skipBad: switchFlag("skip-bad", "Leave bad lines out, instead of importing nothing"),
    ignoreColumns,
    fields: parsedFlag(
      "fields",
      fieldNames,
      "Columns that the e-mails' templates may name, such as first_name,specialty, beside those of the campaign, and time_zone and state if it has hours; all takes every column",
    ).pipe(Flag.withMetavar("names"), Flag.withDefault([])),
    rejects: Flag.String("rejects").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription(
        "Write refused lines to a new CSV file, with their line number and reason; fix it and import it with --ignore-columns",
      ),
      Flag.optional,
    ),
    quiet: switchFlag("quiet", "Show no progress"),
    file: Argument.String("file").pipe(
      Argument.withDescription("A CSV file in UTF-8 whose first line names the columns npi and email"),
    ),
  },
  Effect.fn("ops.recipients.import")(function* ({ campaign: campaignId, file, ...input }) {
    const rejects = Option.getOrUndefined(input.rejects)
    // Loaded here, because `find` does not need the contract's schemas.
    const { importFile } = yield* Effect.promise(() => import("../recipients/importFile.ts"))
    const printBad = (bad: ImportReport | BadLines) => printBadLines(bad, rejects)
    const report = yield* importFile(campaignId, file, { ...input, rejects }).pipe(
      Effect.tapErrorTag("BadLines", printBad),
    )
    yield* printBad(report)
    yield* print({ campaignId, ...report }, () => {
      const { imported, updated, alreadyThere, suppressed, withoutPlace, badCount: skipped } = report
      const places = withoutPlace === undefined ? {} : { withoutPlace }
      return formatRecord({ campaignId, imported, updated, alreadyThere, suppressed, ...places, skipped })
    })
  }),
).pipe(
  Command.withDescription("Import recipients; a re-run imports nothing twice"),
  Command.withExamples([{ command: "ops recipients import --campaign cmp_… clinicians.csv" }]),
)

/** `ops recipients …` */
export const recipients = Command.make("recipients").pipe(
  Command.withDescription("Whom campaigns are sent to"),
  Command.withSubcommands([load, find]),
  Command.provide(
    Layer.mergeAll(
      CampaignRepositoryPg,
      DigestRepositoryPg,
      ProgramRepositoryPg,
      RecipientRepositoryPg,
      SubjectTestRepositoryPg,
      SuppressionRepositoryPg,
      TimelineReader.layer,
      TransactionPg,
      erasedClinicians,
    ),
  ),
)

const printBadLines = Effect.fnUntraced(function* (
  { badCount, badLines }: ImportReport | BadLines,
  rejects: string | undefined,
) {
  for (const { line, reason } of badLines.slice(0, MAX_SHOWN)) yield* printToStderr(`line ${line}: ${reason}`)
  const hint = rejects === undefined ? "; --rejects FILE writes them all" : ""
  if (badCount > MAX_SHOWN) yield* printToStderr(`and ${badCount - MAX_SHOWN} more bad lines${hint}`)
  if (badCount > 0 && rejects !== undefined) yield* printToStderr(`The bad lines are in ${rejects}.`)
})
