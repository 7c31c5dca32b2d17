import type { CampaignId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { describe, expect, it } from "vitest"
import { explainUnsent, type SendingState } from "../../src/campaigns/explainUnsent.ts"

const NOW = Date.parse("2026-11-23T08:00:00Z")
const at = (minutes: number) => fromUnixMillis(NOW + minutes * 60_000)
const progress = {
  ...{
    recipients: 1000,
    published: 1000,
    queued: 900,
    deferred: 0,
    unknown: 0,
    quarantined: 0,
    withdrawn: 0,
    sent: 100,
  },
  ...{ sentInLastMinute: 0, bounced: 0, refusedLater: 0, complained: 0, unsubscribed: 0, answered: 100 },
}
const IDLE: SendingState = {
  id: "cmp_1" as CampaignId,
  name: "Spring",
  status: "sending",
  perMinute: null,
  windowStart: at(-60),
  windowEnd: at(60),
  ...{ stoppedAt: null, stoppedBy: null, stopReason: null },
  progress,
  workers: 1,
  restoreFault: null,
  isQuotaReached: false,
  isRampReached: false,
  dueAt: at(0),
  rateOpensAt: null,
  failures: [],
  pauses: [],
}
const why = (state: Partial<SendingState>) => explainUnsent({ ...IDLE, ...state }, NOW)?.found ?? null
const stop = { stoppedAt: at(-5), stoppedBy: "Dana Reyes", stopReason: "wrong link" }
const failure = { class: "refused", code: "ECONNREFUSED", messages: 900 } as const

describe("the explanation of unsent e-mails", () => {
  it.each<readonly [Partial<SendingState>, string]>([
    [{ status: "draft" }, "Draft"],
    [
      { status: "paused", stoppedAt: at(-5) },
      "It is paused at 2026-11-23 07:55 UTC. E-mails are paused until it is resumed.",
    ],
    [{ status: "paused", ...stop }, "Dana Reyes paused it at 2026-11-23 07:55 UTC: wrong link. E-mails are"],
    [
      { status: "paused", ...stop, stoppedBy: "a worker", stopReason: "12 complaints." },
      "A worker paused it at 2026-11-23 07:55 UTC: 12 complaints. E",
    ],
    [
      { status: "cancelled", ...stop, stopReason: null },
      "Dana Reyes cancelled it at 2026-11-23 07:55 UTC. 900 recipients won't",
    ],
    [{ status: "completed" }, "its window ended at 2026-11-23 09:00 UTC, and 900 recipients got no e-mail"],
    [{ status: "completed", progress: { ...progress, answered: 1000 } }, "sent to all possible recipients"],
    [{ restoreFault: "restoring" }, "The database was restored"],
    [{ restoreFault: "moved" }, "to another server"],
    [{ workers: 0 }, "No worker is running"],
    [{ isQuotaReached: true }, "target of completers: outreach ends"],
    [{ windowStart: at(30) }, "starts at 2026-11-23 08:30 UTC"],
    [{ windowEnd: at(0) }, "Its window ended"],
    [{ status: "publishing", progress: { ...progress, published: 10 } }, "being published: 10 of 1,000"],
    [{ isRampReached: true }, "as its ramp allows. It resumes at 2026-11-24 00:00 UTC."],
    [{ failures: [failure] }, "The mail server refuses connections (ECONNREFUSED). 900 messages are queued"],
    [
      { dueAt: at(55), pauses: [{ domain: "a.test", status: "550 5.7.1", until: at(55) }] },
      "a.test rejected our e-mails and is paused until 2026-11-23 08:55",
    ],
    [
      { dueAt: at(55), progress: { ...progress, deferred: 3 } },
      "3 mailboxes deferred our e-mails. The next e-mail is due at",
    ],
    [{ dueAt: null }, "No message is pending"],
    [{ perMinute: 1, rateOpensAt: at(1) }, "Its rate is 1 a minute: the next e-mail is sent at 2026-11-23 08:01"],
    [{ rateOpensAt: at(1) }, "The total rate limit"],
    [{ dueAt: at(-5) }, "E-mails have been due since 2026-11-23 07:55 UTC, but no worker sends them."],
  ])("is said in words of %o", (state, words) => {
    expect(why(state)).toContain(words)
  })

  it("has no cause while e-mails go out, or are about to", () => {
    expect(why({})).toBeNull()
    expect(why({ progress: { ...progress, sentInLastMinute: 1 }, failures: [failure] })).toBeNull()
  })

  it("names causes outside the workers before causes that the next claim may resolve", () => {
    const all = { workers: 0, isRampReached: true, failures: [failure], rateOpensAt: at(1), dueAt: at(5) }
    expect(why(all)).toContain("No worker is running")
    expect(why({ ...all, status: "paused" })).toContain("It is paused")
    expect(why({ ...all, workers: 2 })).toContain("ramp")
  })
})
