import { Schema } from "effect"
import type { CampaignId, RecipientId } from "../Identifier.ts"
import { TestSubject } from "../mail/Message.ts"
import { Timestamp, toUnixMillis } from "../Timestamp.ts"
import type { UndecidedTest } from "./SubjectTestRepository.ts"

// Glossary. Subject test: a campaign with two subjects, A and B. Test group: the recipients who get one of the two immediately; half of them get
// each. The others wait until the winner is decided, and get that one. Clicks of suspected bots do not count, and each recipient counts once.

/** How a campaign compares two subjects; its own subject is A. */
export const SubjectTest = Schema.Struct({
  subjectB: Schema.String,
  /** The test group, in percent of the recipients; with 100 nobody waits, and neither subject wins. */
  share: Schema.Int,
  /** How long after the campaign has begun to send the winner is decided; null with a share of 100. */
  afterSeconds: Schema.NullOr(Schema.Int),
})
export type SubjectTest = typeof SubjectTest.Type

const SubjectCount = Schema.Struct({ sent: Schema.Int, clicked: Schema.Int })

/** The messages of a subject that were sent to the test group, and the recipients of them who clicked. */
export const SubjectCounts = Schema.Struct({ a: SubjectCount, b: SubjectCount })
export type SubjectCounts = typeof SubjectCounts.Type

export const SubjectTestState = Schema.Struct({
  ...SubjectTest.fields,
  /** When the campaign began to send, or went on after a pause; null before. */
  beganAt: Schema.NullOr(Timestamp),
  winner: Schema.NullOr(TestSubject),
  decidedAt: Schema.NullOr(Timestamp),
  /** What the winner was decided by. */
  counts: Schema.NullOr(SubjectCounts),
})
export type SubjectTestState = typeof SubjectTestState.Type

/** The outcomes of the messages to a part of a campaign's recipients; `null` are those who get the winner. */
export const SubjectFigures = Schema.Struct({
  testSubject: Schema.NullOr(TestSubject),
  recipients: Schema.Int,
  sent: Schema.Int,
  uniqueOpened: Schema.Int,
  uniqueClicked: Schema.Int,
  /** The same without those that only a suspected bot opened or clicked. */
  unsuspectedUniqueOpened: Schema.Int,
  unsuspectedUniqueClicked: Schema.Int,
})
export type SubjectFigures = typeof SubjectFigures.Type

/** The subject that a recipient tests, and whether the recipient waits for the winner. */
export interface SubjectAssignment {
  readonly testSubject: TestSubject | null
  readonly waits: boolean
}

/** Assigns a recipient to a subject by a hash of campaign and recipient. A recipient who is published after the decision gets the winner. */
export const assignSubject = (
  test: Pick<SubjectTestState, "share" | "winner"> | undefined,
  campaignId: CampaignId,
  recipientId: RecipientId,
): SubjectAssignment => {
  if (test === undefined || test.winner !== null) return { testSubject: null, waits: false }
  const place = (hash(`${campaignId} ${recipientId}`) / 2 ** 32) * 100
  if (place >= test.share) return { testSubject: null, waits: true }
  return { testSubject: place < test.share / 2 ? "a" : "b", waits: false }
}

/** FNV-1a with the last step of MurmurHash3, which spreads similar texts over all 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

/**
 * Returns when the winner is decided, in Unix milliseconds: after the wanted time, or after half of what is left of the
 * window when that is too short.
 */
export const decisionTime = (test: Pick<UndecidedTest, "beganAt" | "afterSeconds" | "windowEnd">): number => {
  const [begin, end] = [toUnixMillis(test.beganAt), toUnixMillis(test.windowEnd)]
  const wanted = begin + test.afterSeconds * 1000
  return wanted < end ? wanted : begin + (end - begin) / 2
}

/** Decides by clicks per message sent; a tie is A's, and so is a test that nobody clicked in. */
export const chooseSubject = ({ a, b }: SubjectCounts): TestSubject => {
  if (a.sent === 0 || b.sent === 0) return b.clicked > 0 ? "b" : "a"
  return b.clicked * a.sent > a.clicked * b.sent ? "b" : "a"
}

/** Returns why a campaign cannot have a subject test, or undefined if it can. */
export const checkSubjectTest = (
  { subjectB, share, afterSeconds }: SubjectTest,
  campaign: { readonly subject: string; readonly windowStart: Timestamp; readonly windowEnd: Timestamp },
): string | undefined => {
  if (subjectB === campaign.subject) return "Both subjects are the same; there is nothing to compare."
  if (!Number.isInteger(share) || share < 1 || share > 100) return "The share must be a whole number from 1 to 100."
  if (share === 100) {
    return afterSeconds === null
      ? undefined
      : "With a share of 100 nobody waits for a winner, so there is no time after which it is decided."
  }
  if (afterSeconds === null) return "Say after which time the winner is decided, such as 4h."
  const windowSeconds = (toUnixMillis(campaign.windowEnd) - toUnixMillis(campaign.windowStart)) / 1000
  if (afterSeconds < windowSeconds) return undefined
  return "The winner would be decided when the send window is over; choose a shorter time, or a later end of the window."
}
