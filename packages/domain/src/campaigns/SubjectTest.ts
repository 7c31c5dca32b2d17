import type { CampaignId, RecipientId } from "../Identifier.ts"
import type { TestSubject } from "../mail/Message.ts"
import { type Timestamp, toUnixMillis } from "../Timestamp.ts"

// Glossary. Subject test: a campaign with two subjects, A and B. Test group: the recipients who get one of the two at once; half of them get
// each. The others wait until the winner is decided, and get that one. Clicks of suspected bots do not count, and each recipient counts once.

/** How a campaign compares two subjects; its own subject is A. */
export interface SubjectTest {
  readonly subjectB: string
  /** The test group, in percent of the recipients; with 100 nobody waits, and neither subject wins. */
  readonly share: number
  /** How long after the campaign has begun to send the winner is decided; null with a share of 100. */
  readonly afterSeconds: number | null
}

/** The messages of a subject that were sent to the test group, and the recipients of them who clicked. */
export type SubjectCounts = Readonly<Record<TestSubject, { readonly sent: number; readonly clicked: number }>>

/** How a subject test stands. */
export interface SubjectTestState extends SubjectTest {
  /** When the campaign began to send, or went on after a pause; null before. */
  readonly beganAt: Timestamp | null
  readonly winner: TestSubject | null
  readonly decidedAt: Timestamp | null
  /** What the winner was decided by. */
  readonly counts: SubjectCounts | null
}

/** What became of the messages to a part of a campaign's recipients; `null` are those who get the winner. */
export interface SubjectFigures {
  readonly testSubject: TestSubject | null
  readonly recipients: number
  readonly sent: number
  readonly uniqueOpened: number
  readonly uniqueClicked: number
  /** The same without those that only a suspected bot opened or clicked. */
  readonly unsuspectedUniqueOpened: number
  readonly unsuspectedUniqueClicked: number
}

/** The subject that a recipient tests, and whether the recipient waits for the winner. */
export interface SubjectAssignment {
  readonly testSubject: TestSubject | null
  readonly waits: boolean
}

/** Assigns a recipient to a subject by a hash of campaign and recipient. Whoever is published after the decision gets the winner. */
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
 * Returns when the winner is decided, in Unix milliseconds: after the time that was asked for, or after half of what is left of the
 * window when that is too short.
 */
export const decisionTime = ({
  beganAt,
  afterSeconds,
  windowEnd,
}: {
  readonly beganAt: Timestamp
  readonly afterSeconds: number
  readonly windowEnd: Timestamp
}): number => {
  const [begin, end] = [toUnixMillis(beganAt), toUnixMillis(windowEnd)]
  const wanted = begin + afterSeconds * 1000
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
