import { createHash } from "node:crypto"

/** How a clinician of the sandbox reacts to an invitation. */
export type Behavior = Readonly<ReturnType<typeof behaviorOf>>

/** The wait of the slowest reader. */
const MAX_WAIT_MS = 120_000

/** The service suspects a bot behind a hit in the first second. */
const MIN_WAIT_MS = 2000

/** Derives a clinician's behavior from the e-mail address, so that one address always behaves the same. */
export const behaviorOf = (email: string) => {
  const hash = createHash("sha256").update(email.toLowerCase()).digest()
  // Of 100 clinicians 40 open, 15 of these click, 6 of these create an account, 3 learn, 1 completes. Another 2 open and unsubscribe.
  const lot = hash.readUInt32BE(0) % 100
  const wait = hash.readUInt32BE(4) / 2 ** 32
  return {
    /** Whether the mailbox does not exist. */
    bounces: lot >= 98,
    /** Whether a mail filter follows the link as soon as the message has arrived. */
    scanned: lot >= 95 && lot < 98,
    // Squared, so that most read early: a quarter of the readers within the first sixteenth of the time.
    readAfterMs: MIN_WAIT_MS + Math.round(wait * wait * (MAX_WAIT_MS - MIN_WAIT_MS)),
    opens: lot < 42,
    clicks: lot < 15,
    unsubscribes: lot === 40 || lot === 41,
    /** How many of the partner's stages the clinician reaches after the click: account, learner, completer. */
    stages: [6, 3, 1].filter((share) => lot < share).length,
  }
}
