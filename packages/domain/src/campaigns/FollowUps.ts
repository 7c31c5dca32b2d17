import { Effect } from "effect"
import type { RecipientId } from "../Identifier.ts"
import type { MessageLease } from "../mail/Message.ts"
import { Settlements } from "../mail/Settlements.ts"
import { ProgramRepository } from "../programs/ProgramRepository.ts"
import { RecipientRepository } from "../recipients/RecipientRepository.ts"
import { Transaction } from "../Transaction.ts"
import type { Campaign } from "./Campaign.ts"
import { type FollowedRecipient, type FollowUp, judgeFollowed, type SkipReason } from "./FollowUp.ts"
import { type DrawnRecipient, FollowUpRepository } from "./FollowUpRepository.ts"
import { createCandidate, judgeKnown, MAX_TOKEN_DRAWS, TokensUsedUp } from "./RecipientImport.ts"

/**
 * Draws the next recipients of a follow-up from those of the campaign that it follows, as a part of a transaction that has locked the
 * follow-up's campaign.
 */
export const drawNext = Effect.fnUntraced(function* (
  campaign: Pick<Campaign, "organizationId" | "id" | "programId" | "windowStart">,
  followUp: FollowUp,
  limit: number,
) {
  const followUps = yield* FollowUpRepository
  const { organizationId, id: campaignId, programId, windowStart } = campaign
  const read = yield* followUps.readNext({ organizationId, campaignId }, limit)
  const skipped: Partial<Record<SkipReason, number>> = {}
  const skip = (reason: SkipReason) => {
    skipped[reason] = (skipped[reason] ?? 0) + 1
  }
  const wanted: Array<FollowedRecipient> = []
  for (const recipient of read) {
    const reason = judgeFollowed(recipient, { ...followUp, windowStart })
    if (reason === undefined) wanted.push(recipient)
    else skip(reason)
  }
  // With the clock in hand, as in an import.
  const at = yield* (yield* Transaction).commitTimestamp(organizationId)
  if (yield* (yield* ProgramRepository).isQuotaReached(organizationId, programId)) {
    for (const _ of wanted) skip("quota_reached")
  } else {
    const registrations = yield* judgeKnown({ organizationId, campaignId, programId }, wanted)
    for (const registration of registrations) if (registration === "suppressed") skip("suppressed")
    const registered = wanted.filter((_, i) => registrations[i] === "registered")
    const recipients = yield* RecipientRepository
    const drawn: Array<DrawnRecipient> = []
    let waiting: ReadonlyArray<FollowedRecipient> = registered
    for (let draw = 0; waiting.length > 0; draw++) {
      if (draw === MAX_TOKEN_DRAWS) return yield* Effect.die(new TokensUsedUp())
      const candidates = yield* Effect.forEach(waiting, createCandidate)
      const added = yield* recipients.add({ organizationId, campaignId, programId }, candidates, at)
      for (const [i, { id }] of candidates.entries()) if (added.has(id)) drawn.push({ followedId: waiting[i]!.id, id })
      waiting = waiting.filter((_, i) => !added.has(candidates[i]!.id))
    }
    yield* followUps.copyFields(organizationId, drawn)
  }
  yield* followUps.advance({ organizationId, campaignId }, read.length < limit ? null : read.at(-1)!.id, skipped)
})

/** Withdraws the recipients of follow-ups who have clicked on an earlier e-mail since they were drawn, and returns them. */
export const withdrawClicked = Effect.fnUntraced(function* (leases: ReadonlyArray<MessageLease>) {
  const clicked: ReadonlySet<RecipientId> = yield* (yield* FollowUpRepository).findClicked(leases)
  const settlements = yield* Settlements
  yield* Effect.forEach(
    leases.filter(({ recipientId }) => clicked.has(recipientId)),
    (lease) => settlements.settle(lease, { state: "withdrawn", reason: "clicked" }),
    { concurrency: "unbounded", discard: true },
  )
  return clicked
})
