import { describe, expect, it } from "vitest"
import { decideBounce, type ReportedOutcome } from "../../src/mail/Bounces.ts"
import type { Recipient } from "../../src/recipients/Recipient.ts"
import { Timestamp } from "../../src/Timestamp.ts"

const at = Timestamp.make("2026-11-21T02:45:29.123456Z")
const recipient = (sentAt: Timestamp | null, bouncedAt: Timestamp | null) => ({ sentAt, bouncedAt }) as Recipient

const HARD: ReportedOutcome = { _tag: "Bounced", reason: "mailbox_disabled" }
const UNCLEAR: ReportedOutcome = { _tag: "Bounced", reason: "other" }
const GIVEN_UP: ReportedOutcome = { _tag: "Deferred" }
const REFUSED: ReportedOutcome = { _tag: "Refused", status: "550 5.7.1" }

const sent = { recipient: recipient(at, null), isFrozen: false, message: undefined }
const unknown = { recipient: recipient(null, null), isFrozen: false, message: { unknownOutcomes: 1, isLeased: false } }

describe("decideBounce", () => {
  it.each([
    ["of nobody", undefined, "unknown"],
    ["of a sent message", { recipient: recipient(at, null), isFrozen: false, message: undefined }, "recorded"],
    [
      "of a message that bounced after it was sent",
      { recipient: recipient(at, at), isFrozen: false, message: undefined },
      "repeated",
    ],
    [
      "of a message that bounced at once",
      { recipient: recipient(null, at), isFrozen: false, message: undefined },
      "repeated",
    ],
    [
      "while the organization is frozen",
      { recipient: recipient(at, null), isFrozen: true, message: undefined },
      "early",
    ],
    [
      "of a recipient without a message",
      { recipient: recipient(null, null), isFrozen: false, message: undefined },
      "unknown",
    ],
    [
      "of a message that was never sent",
      { recipient: recipient(null, null), isFrozen: false, message: { unknownOutcomes: 0, isLeased: false } },
      "early",
    ],
    [
      "of a message that is being sent again",
      { recipient: recipient(null, null), isFrozen: false, message: { unknownOutcomes: 1, isLeased: true } },
      "early",
    ],
    [
      "of a message with an unknown outcome",
      { recipient: recipient(null, null), isFrozen: false, message: { unknownOutcomes: 1, isLeased: false } },
      "recorded",
    ],
  ] as const)("knows what becomes of a report %s", (_, bounced, result) => {
    expect(decideBounce(bounced, HARD)).toBe(result)
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
      expect(decideBounce({ ...sent, recipient: recipient(at, at) }, verdict)).toBe("repeated")
      expect(decideBounce({ ...unknown, message: { unknownOutcomes: 1, isLeased: true } }, verdict)).toBe("early")
    },
  )
})
