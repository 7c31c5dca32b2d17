import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { Effect } from "effect"
import { createPrivateFile } from "../createPrivateFile.ts"
import { csvHead, csvLine } from "../csv/csvTable.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { OUTCOME_COLUMNS, OutcomeReader, type RecipientOutcome } from "./OutcomeReader.ts"

const BYTE_ORDER_MARK = "\uFEFF"

/** Writes the outcome of each recipient of a campaign to a new CSV file, with times in UTC; returns their number. */
export const exportOutcomes = Effect.fn("exportOutcomes")(function* (
  campaignId: CampaignId,
  { out, reveal = false, bom = false }: { readonly out: string; readonly reveal?: boolean; readonly bom?: boolean },
) {
  const campaigns = yield* CampaignRepository
  const { organizationId } = yield* campaigns.find(campaignId)
  const file = yield* createPrivateFile(out)
  const bar = yield* (yield* TaskProgress).bar("Exporting", (yield* campaigns.progress(campaignId)).recipients)
  let count = 0
  yield* file.append(`${bom ? BYTE_ORDER_MARK : ""}${csvHead(OUTCOME_COLUMNS)}`)
  yield* (yield* OutcomeReader).forEachBatch({ organizationId, campaignId }, (outcomes) => {
    count += outcomes.length
    const rows = outcomes.map((outcome) => csvLine(OUTCOME_COLUMNS, reveal ? outcome : mask(outcome)))
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
