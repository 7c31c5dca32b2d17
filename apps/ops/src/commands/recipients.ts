import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { CampaignId } from "@outreach/domain/Identifier"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { SubjectTestRepositoryPg } from "@outreach/postgres/campaigns/SubjectTestRepositoryPg"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer } from "effect"
import type { BadLines } from "../csv/ImportErrors.ts"
import { changing, group } from "../Declaration.ts"
import { erasedClinicians } from "../erasedClinicians.ts"
import { ignoreColumns, quiet } from "../inputs/filters.ts"
import { flag, optional, switchFlag, text, textArgument, withDefault } from "../inputs/Input.ts"
import { formatRecord, print, printToStderr } from "../output/Output.ts"
import { find } from "../recipients/find.ts"
import type { ImportReport } from "../recipients/importFile.ts"

const MAX_SHOWN = 100

// Loaded when the flag is given, because it loads the template language.
const fieldNames = Effect.promise(
  async () => (await import("@outreach/domain/recipients/RecipientFields")).FieldNamesOrAll,
)

const load = changing({
  about: "Import recipients; a re-run imports nothing twice",
  examples: ["ops recipients import --campaign cmp_… clinicians.csv"],
  input: {
    campaignId: flag(CampaignId, "The id of a draft or paused campaign, cmp_…"),
    skipBad: switchFlag("Leave bad lines out, instead of importing nothing"),
    ignoreColumns,
    fields: withDefault(
      flag(
        fieldNames,
        "Columns that the e-mails' templates may name, such as first_name,specialty, beside those of the campaign, and time_zone and state if it has hours; all takes every column",
        "names",
      ),
      [],
    ),
    rejects: optional(
      text(
        "Write refused lines to a new CSV file, with their line number and reason; fix it and import it with --ignore-columns",
        "FILE",
      ),
    ),
    quiet,
    file: textArgument("A CSV file in UTF-8 whose first line names the columns npi and email"),
  },
  *run({ campaignId, file, ...options }) {
    // Loaded here, because `find` does not need the contract's schemas.
    const { importFile } = yield* Effect.promise(() => import("../recipients/importFile.ts"))
    const printBad = (bad: ImportReport | BadLines) => printBadLines(bad, options.rejects)
    const report = yield* importFile(campaignId, file, options).pipe(Effect.tapErrorTag("BadLines", printBad))
    yield* printBad(report)
    yield* print({ campaignId, ...report }, () => {
      const { badLines, badCount: skipped, withoutPlace, ...counts } = report
      const places = withoutPlace === undefined ? {} : { withoutPlace }
      return formatRecord({ campaignId, ...counts, ...places, skipped })
    })
  },
})

/** `ops recipients …` */
export const recipients = group({
  about: "Whom campaigns are sent to",
  commands: { import: load, find },
  services: Layer.mergeAll(
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
})

const printBadLines = Effect.fnUntraced(function* (
  { badCount, badLines }: ImportReport | BadLines,
  rejects: string | undefined,
) {
  for (const { line, reason } of badLines.slice(0, MAX_SHOWN)) yield* printToStderr(`line ${line}: ${reason}`)
  const hint = rejects === undefined ? "; --rejects FILE writes them all" : ""
  if (badCount > MAX_SHOWN) yield* printToStderr(`and ${badCount - MAX_SHOWN} more bad lines${hint}`)
  if (badCount > 0 && rejects !== undefined) yield* printToStderr(`The bad lines are in ${rejects}.`)
})
