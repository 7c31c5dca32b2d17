import { Email } from "@outreach/contract"
import { Effect, Schema } from "effect"
import { type CampaignId, createIdentifier } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { checkNpi } from "../recipients/checkNpi.ts"
import { TOKEN_LENGTH } from "../recipients/Recipient.ts"
import { CampaignRepository, type Candidate, type Registration } from "./CampaignRepository.ts"

/** A line of an import file. */
export interface ImportLine {
  /** Counted from 1, the header included. */
  readonly number: number
  readonly npi: string
  readonly email: string
}

/** A line that cannot be imported, and why; it repeats nothing of the line. */
export interface BadLine {
  readonly number: number
  readonly reason: string
}

/** What became of a batch of lines. */
export interface ImportResult {
  readonly imported: number
  /** Lines whose NPI and e-mail the campaign has already. */
  readonly alreadyThere: number
  /** Lines of clinicians whom the program must not write to. */
  readonly suppressed: number
  readonly bad: ReadonlyArray<BadLine>
}

/** No token was free in ten draws; 62⁶ tokens to an organization are nearly used up. */
export class TokensUsedUp extends Schema.TaggedError<TokensUsedUp>()("TokensUsedUp", {}) {
  override get message(): string {
    return "No free recipient token was found in ten draws."
  }
}

/** Returns what is wrong with a line, or undefined. */
export const checkLine = (line: ImportLine): string | undefined =>
  checkNpi(line.npi) ?? (isEmail(line.email) ? undefined : "the e-mail address is not valid")

const isEmail = (text: string): boolean => text.length <= MAX_EMAIL_LENGTH && Email.safeParse(text).success

/** RFC 5321 4.5.3.1.3: a path is at most 256 octets, its angle brackets included. */
const MAX_EMAIL_LENGTH = 254

const REASONS: Partial<Record<Registration, string>> = {
  npi_taken: "the campaign has this NPI with another e-mail address",
  email_taken: "the campaign has this e-mail address with another NPI",
}

const COUNTED = ["registered", "already_there", "suppressed"] as const

const isCounted = (registration: Registration): registration is (typeof COUNTED)[number] =>
  COUNTED.some((counted) => counted === registration)

/** Imports a batch of lines in one transaction; doing it again changes nothing. */
export const importLines = Effect.fn("RecipientImport.importLines")(function* (
  campaignId: CampaignId,
  lines: ReadonlyArray<ImportLine>,
) {
  const campaigns = yield* CampaignRepository
  const bad: Array<BadLine> = []
  let waiting: Array<ImportLine> = []
  for (const line of lines) {
    const reason = checkLine(line)
    if (reason === undefined) waiting.push(line)
    else bad.push({ number: line.number, reason })
  }
  const counts = { registered: 0, already_there: 0, suppressed: 0 }
  for (let draw = 0; waiting.length > 0; draw++) {
    if (draw === 10) return yield* new TokensUsedUp()
    const batch = waiting
    const registrations = yield* campaigns.addRecipients(campaignId, yield* Effect.forEach(batch, makeCandidate))
    waiting = []
    for (const [i, registration] of registrations.entries()) {
      const line = batch[i]!
      if (registration === "token_taken") waiting.push(line)
      else if (isCounted(registration)) counts[registration]++
      else bad.push({ number: line.number, reason: REASONS[registration]! })
    }
  }
  return {
    imported: counts.registered,
    alreadyThere: counts.already_there,
    suppressed: counts.suppressed,
    bad: bad.sort((a, b) => a.number - b.number),
  } satisfies ImportResult
})

const makeCandidate = Effect.fnUntraced(function* ({ npi, email }: ImportLine) {
  const id = yield* createIdentifier("recipient")
  return { id, token: yield* randomBase62(TOKEN_LENGTH), npi, email } satisfies Candidate
})
