import { createHash } from "node:crypto"

/** What a clinician of the sandbox does with an invitation. */
export interface Behavior {
  /** Whether the mailbox does not exist. */
  readonly bounces: boolean
  /** Whether a mail filter follows the link as soon as the message has arrived. */
  readonly scanned: boolean
  /** How long after its arrival the message is read, in milliseconds. */
  readonly readAfterMs: number
  readonly opens: boolean
  readonly clicks: boolean
  readonly unsubscribes: boolean
  /** How many of the partner's stages follow the click: account, learner, completer. */
  readonly stages: number
}

/** How long the slowest reader waits. */
const MAX_WAIT_MS = 120_000

/** A hit in the first second is suspected to be a bot's. */
const MIN_WAIT_MS = 2000

/** Decides what a clinician does, always the same for one e-mail address. */
export const behaviorOf = (email: string): Behavior => {
  const hash = createHash("sha256").update(email.toLowerCase()).digest()
  // Of a hundred, 40 open, 15 of these click, 6 of these have an account, 3 learn, 1 completes; 2 more open and unsubscribe.
  const lot = hash.readUInt32BE(0) % 100
  const wait = hash.readUInt32BE(4) / 2 ** 32
  return {
    bounces: lot >= 98,
    scanned: lot >= 95 && lot < 98,
    // Squared: a quarter of the readers read within the first sixteenth of the time.
    readAfterMs: MIN_WAIT_MS + Math.round(wait * wait * (MAX_WAIT_MS - MIN_WAIT_MS)),
    opens: lot < 42,
    clicks: lot < 15,
    unsubscribes: lot === 40 || lot === 41,
    stages: [6, 3, 1].filter((share) => lot < share).length,
  }
}
