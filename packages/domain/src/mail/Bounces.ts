import { Effect } from "effect"
import { composeEvent } from "../events/Event.ts"
import { createIdentifier, type RecipientId } from "../Identifier.ts"
import { BounceRepository } from "./BounceRepository.ts"
import type { MailOutcome } from "./Mailer.ts"
import { OUR_RETRY } from "./Outreach.ts"

/** Acts on a report that a sent message was not delivered after all. What the report says of us marks no address. */
export const reportBounce = Effect.fnUntraced(function* (
  recipientId: RecipientId,
  verdict: Extract<MailOutcome, { _tag: "Bounced" | "Deferred" | "Refused" }>,
) {
  const bounces = yield* BounceRepository
  if (verdict._tag === "Refused") {
    yield* bounces.pauseDomain(recipientId, verdict.status, OUR_RETRY.Refused)
    return "refused"
  }
  const id = yield* createIdentifier("event")
  return yield* bounces.record(recipientId, ({ organizationId, campaignId, programId, token }) =>
    composeEvent(
      "outreach.email_bounced",
      { id, organizationId, campaignId, programId, recipientId },
      {
        service_recipient_id: recipientId,
        service_campaign_id: campaignId,
        token,
        // Whoever reports has tried for as long as it would.
        bounce_reason: verdict._tag === "Bounced" ? verdict.reason : "other",
      },
    ),
  )
})
