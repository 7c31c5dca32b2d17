import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import type { EventDraft } from "@outreach/domain/events/Event"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect } from "effect"
import { publishEvents } from "../src/events/publishEvents.ts"
import { inTransaction } from "./inTransaction.ts"

/** What became of a recipient: `human …` is not suspected to be a bot, `bot …` is. */
export type Outcome = "sent" | "bounced" | "human opened" | "bot opened" | "human clicked" | "bot clicked"

/** Publishes what became of recipients, in one transaction with a stamp of the test's own. */
export const outreachOn = Effect.fnUntraced(function* (
  stamp: string,
  campaign: Campaign,
  outcomes: ReadonlyArray<readonly [recipientId: RecipientId, outcome: Outcome]>,
) {
  yield* inTransaction(publishEvents(yield* draftsOf(campaign, outcomes), stamp as CommitTimestamp))
})

/** Drafts the events of what became of recipients. */
export const draftsOf = (
  campaign: Campaign,
  outcomes: ReadonlyArray<readonly [recipientId: RecipientId, outcome: Outcome]>,
) =>
  Effect.forEach(
    outcomes,
    Effect.fnUntraced(function* ([recipientId, outcome]) {
      const happened = outcome.split(" ").at(-1) as "sent" | "bounced" | "opened" | "clicked"
      return {
        id: yield* createIdentifier("event"),
        organizationId: campaign.organizationId,
        campaignId: campaign.id,
        programId: campaign.programId,
        recipientId,
        type: `outreach.email_${happened}`,
        data: { is_bot_suspected: outcome.startsWith("bot") },
      } satisfies EventDraft
    }),
  )
