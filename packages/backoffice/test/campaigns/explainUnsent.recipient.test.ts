import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { expect, it } from "vitest"
import { explainUnsentRecipient, type RecipientState, type SendingState } from "../../src/campaigns/explainUnsent.ts"

const NOW = Date.parse("2026-11-23T08:00:00Z")
const at = (minutes: number) => fromUnixMillis(NOW + minutes * 60_000)
const WAITING: RecipientState = {
  campaignId: "cmp_1" as CampaignId,
  recipientId: "rcp_1" as RecipientId,
  ...{ sentAt: null, bouncedAt: null, withdrawalReason: null, refusedLater: null },
  ...{ dueAt: at(0), attempts: 0, quarantinedAt: null, failure: null, pausedUntil: null, lastReply: null },
}
const stop = { stoppedAt: at(-5), stoppedBy: "Dana Reyes", stopReason: "wrong link" }
const sending = { status: "sending", progress: { sentInLastMinute: 1 }, stoppedAt: null } as unknown as SendingState
const failure = { class: "refused", code: "ECONNREFUSED" } as const

it.each<readonly [Partial<RecipientState>, string, Partial<SendingState>?]>([
  [
    { bouncedAt: at(-1), sentAt: at(-2), lastReply: "550 5.1.1 No such mailbox" },
    "bounced at 2026-11-23 07:59 UTC: 550 5.1.1",
  ],
  [{ sentAt: at(-2) }, "was sent at 2026-11-23 07:58 UTC, and their mail server accepted it."],
  [{ sentAt: at(-2), refusedLater: "policy", lastReply: "554 no" }, "rejected later (policy): 554 no"],
  [{ withdrawalReason: "suppressed" }, "It was not sent: they were suppressed before it was sent."],
  [
    { quarantinedAt: at(-2), failure: { class: "template", code: "first_name" } },
    "Quarantined since 2026-11-23 07:58 UTC: The template doesn't render",
  ],
  [{ quarantinedAt: at(-2) }, "its delivery is unknown"],
  [{ failure }, "The mail server refuses connections (ECONNREFUSED). It will be retried automatically."],
  [{ failure }, "Dana Reyes paused it", { status: "paused", ...stop }],
  [
    { pausedUntil: at(60), lastReply: "550 5.7.1 blocked" },
    "Their domain rejected our e-mails and is paused until 2026-11-23 09:00 UTC: 550 5.7.1",
  ],
  [
    { attempts: 2, dueAt: at(15), lastReply: "450 busy" },
    "Their mailbox deferred it. It is retried at 2026-11-23 08:15 UTC: 450 busy",
  ],
  [{}, "It is queued with its campaign"],
])("says of %o why nothing came: %s", (state, words, campaign) => {
  expect(
    explainUnsentRecipient(
      { ...WAITING, ...(state as Partial<RecipientState>) },
      { ...sending, ...(campaign as Partial<SendingState>) },
      NOW,
    ).found,
  ).toContain(words)
})
