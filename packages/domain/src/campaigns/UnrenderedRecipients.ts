import { Effect } from "effect"
import { createFieldsCheck } from "../mail/templates/createFieldsCheck.ts"
import { type RecipientPosition, RecipientRepository } from "../recipients/RecipientRepository.ts"
import type { Campaign } from "./Campaign.ts"

const BATCH_SIZE = 1000

/** Counts recipients waiting for a campaign's message, and those whose message wouldn't render; lists the first ones. */
export const findUnrendered = Effect.fn("UnrenderedRecipients.findUnrendered")(function* (
  campaign: Campaign,
  limit: number,
) {
  const recipients = yield* RecipientRepository
  const check = createFieldsCheck(campaign)
  const first: Array<{ readonly token: string; readonly reason: string }> = []
  let [checked, unrendered] = [0, 0]
  let after: RecipientPosition | undefined
  do {
    const page = yield* recipients.pageWaiting(campaign.organizationId, campaign.id, after, BATCH_SIZE)
    for (const { token, fields } of page) {
      const reason = check(fields)
      if (reason === undefined) continue
      unrendered++
      if (first.length < limit) first.push({ token, reason })
    }
    checked += page.length
    after = page.length < BATCH_SIZE ? undefined : page.at(-1)
  } while (after !== undefined)
  return { checked, unrendered, first }
})
