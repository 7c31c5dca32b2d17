import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import { csvRow, disarmFormula } from "@outreach/backoffice/csv/csvRow"
import { OUTCOME_COLUMNS, OutcomeReader, type RecipientOutcome } from "@outreach/backoffice/recipients/OutcomeReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { Effect } from "effect"
import { printProgress, snakeName } from "../output/Output.ts"

const BYTE_ORDER_MARK = "\uFEFF"

/** Writes the outcome of each recipient of a campaign to a new CSV file, with times in UTC; returns their number. */
export const exportOutcomes = Effect.fn("exportOutcomes")(function* (
  campaignId: CampaignId,
  options: { readonly out: string; readonly reveal: boolean; readonly bom: boolean; readonly quiet: boolean },
) {
  const campaigns = yield* CampaignRepository
  const { organizationId } = yield* campaigns.find(campaignId)
  const file = yield* createPrivateFile(options.out)
  const bar = yield* printProgress("Exporting", (yield* campaigns.progress(campaignId)).recipients, options)
  let count = 0
  yield* file.append(`${options.bom ? BYTE_ORDER_MARK : ""}${csvRow(OUTCOME_COLUMNS.map(snakeName))}`)
  yield* (yield* OutcomeReader).forEachBatch({ organizationId, campaignId }, (outcomes) => {
    count += outcomes.length
    const rows = outcomes.map((outcome) => toRow(options.reveal ? outcome : mask(outcome)))
    return Effect.andThen(file.append(rows.join("")), bar.advance(outcomes.length))
  })
  yield* file.keep
  return count
}, Effect.scoped)

const mask = ({ npi, email, ...outcome }: RecipientOutcome) => ({
  ...outcome,
  npi: npi && maskNpi(npi),
  email: email && maskEmail(email),
})

const toRow = (outcome: { readonly [Column in keyof RecipientOutcome]: string | null }): string =>
  csvRow(OUTCOME_COLUMNS.map((column) => formatTime(outcome[column] && disarmFormula(outcome[column]))))

/** Writes a timestamp for spreadsheets, and any other text unchanged. */
const formatTime = (text: string | null) => text?.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/, "$1 $2")
