import { describe, expect, it } from "vitest"
import { decideBounce } from "../../../src/mail/returned/Bounces.ts"
import type { ReportedOutcome } from "../../../src/mail/Transport.ts"
import type { Recipient } from "../../../src/recipients/Recipient.ts"
import { Timestamp } from "../../../src/Timestamp.ts"

const at = Timestamp.make("2026-11-21T02:45:29.123456Z")

const HARD: ReportedOutcome = { _tag: "Bounced", reason: "mailbox_disabled" }
const UNCLEAR: ReportedOutcome = { _tag: "Bounced", reason: "other" }
const GIVEN_UP: ReportedOutcome = { _tag: "Deferred" }
const REFUSED: ReportedOutcome = { _tag: "Refused", status: "550 5.7.1" }

/** State of a recipient and a message; by default the message was sent. */
const bounced = (state: {
  readonly sentAt?: Timestamp | null
  readonly bouncedAt?: Timestamp
  readonly message?: { readonly unknownOutcomes: number; readonly isLeased: boolean }
}) => {
  const { sentAt = at, bouncedAt = null, message } = state
  return { recipient: { sentAt, bouncedAt } as Recipient, message }
}
const sent = bounced({})
const unknown = bounced({ sentAt: null, message: { unknownOutcomes: 1, isLeased: false } })
const resending = bounced({ sentAt: null, message: { unknownOutcomes: 1, isLeased: true } })
const neverSent = bounced({ sentAt: null, message: { unknownOutcomes: 0, isLeased: false } })

describe("decideBounce", () => {
  it.each([
    ["an unknown recipient", undefined, "unknown"],
    ["a sent message", sent, "recorded"],
    ["a message that bounced after it was sent", bounced({ bouncedAt: at }), "repeated"],
    ["a message that bounced immediately", bounced({ sentAt: null, bouncedAt: at }), "repeated"],
    ["a recipient without a message", bounced({ sentAt: null }), "unknown"],
    ["a message that was never sent", neverSent, "early"],
    ["a message that is being sent again", resending, "early"],
    ["a message with an unknown outcome", unknown, "recorded"],
  ] as const)("decides a report about %s", (_, state, result) => {
    expect(decideBounce(state, HARD)).toBe(result)
  })

  it.each([
    ["an unclear rejection", UNCLEAR, "recorded"],
    ["a relay that gave up", GIVEN_UP, "recorded"],
    ["a refusal of us", REFUSED, "refused"],
  ] as const)(
    "keeps %s of a sent message as a refusal, and lets it settle a message with an unknown outcome unless it is about us",
    (_, verdict, ofUnknown) => {
      expect(decideBounce(sent, verdict)).toBe("refused")
      expect(decideBounce(unknown, verdict)).toBe(ofUnknown)
      expect(decideBounce(bounced({ bouncedAt: at }), verdict)).toBe("repeated")
      expect(decideBounce(resending, verdict)).toBe("early")
    },
  )
})
