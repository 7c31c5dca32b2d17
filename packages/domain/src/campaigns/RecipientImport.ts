import { Effect, Result, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { DigestRepository } from "../digest/DigestRepository.ts"
import { type CampaignId, createIdentifier } from "../Identifier.ts"
import { createFieldsCheck } from "../mail/createFieldsCheck.ts"
import { parseInput } from "../parseInput.ts"
import { ProgramRepository } from "../programs/ProgramRepository.ts"
import { randomBase62 } from "../randomBase62.ts"
import { EmailAddress } from "../recipients/EmailAddress.ts"
import { Npi } from "../recipients/Npi.ts"
import { type Candidate, type Recipient, TOKEN_LENGTH } from "../recipients/Recipient.ts"
import { RecipientFields } from "../recipients/RecipientFields.ts"
import { RecipientRepository } from "../recipients/RecipientRepository.ts"
import {
  ErasedClinicianRepository,
  type ErasedClinicians,
  isErased,
} from "../suppressions/ErasedClinicianRepository.ts"
import type { SuppressionKey } from "../suppressions/Suppression.ts"
import { SuppressionRepository } from "../suppressions/SuppressionRepository.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { type Campaign, IMPORTABLE } from "./Campaign.ts"
import { CampaignNotInStatus, QuotaReached } from "./CampaignErrors.ts"
import { CampaignRepository } from "./CampaignRepository.ts"

/** RFC 5321 4.5.3.1.3: a path is at most 256 octets, its angle brackets included. */
const MAX_EMAIL_LENGTH = 254

export const ImportLine = Schema.Struct({
  /** Counted from 1, the header included. */
  number: Schema.Int,
  npi: Npi,
  email: EmailAddress.check(
    Schema.makeFilter(
      (text) => new TextEncoder().encode(text).length <= MAX_EMAIL_LENGTH || "the e-mail address is not valid",
    ),
  ),
  /** Absent when the import takes no fields. */
  fields: Schema.optionalKey(RecipientFields),
})
export type ImportLine = typeof ImportLine.Encoded

/** A line that cannot be imported, and why; it repeats nothing of the line. */
export interface BadLine {
  readonly number: number
  readonly reason: string
}

const MAX_TOKEN_DRAWS = 10

/** Creates a candidate with a new id and a random token, which may be taken. */
const createCandidate = Effect.fnUntraced(function* (given: Omit<Candidate, "id" | "token">) {
  const id = yield* createIdentifier("recipient")
  const token = yield* randomBase62(TOKEN_LENGTH)
  return { ...given, id, token } satisfies Candidate
})

/** No token was free in ten draws; 62⁶ tokens to an organization are nearly used up. */
export class TokensUsedUp extends DescribedError("TokensUsedUp", "No free recipient token was found in ten draws.") {}

const parseLine = parseInput(ImportLine)

/** Creates the function that parses a line of an import into a campaign, and checks its fields; it fails with the reason. */
export const createLineParser = (
  campaign: Campaign,
): ((line: ImportLine) => Result.Result<typeof ImportLine.Type, string>) => {
  const check = createFieldsCheck(campaign)
  return (line) => {
    const parsed = parseLine(line)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure.reason)
    const reason = check(line.fields ?? {})
    return reason === undefined ? Result.succeed(parsed.success) : Result.fail(reason)
  }
}

/**
 * The result for a candidate: `token_taken` asks for another token; `already_there` is the very same NPI and e-mail, and `updated` as well, with
 * other fields; `suppressed` is a clinician to whom the program must not write, because of a suppression or because they have qualified.
 */
export type Registration =
  | "registered"
  | "updated"
  | "already_there"
  | "suppressed"
  | "npi_taken"
  | "email_taken"
  | "token_taken"

/** The candidates who are recipients of the campaign already, suppressed, qualified, or erased. */
export interface KnownClinicians {
  readonly recipients: ReadonlyArray<Pick<Recipient, "npi" | "email">>
  readonly suppressions: ReadonlyArray<SuppressionKey>
  readonly qualified: ReadonlySet<string>
  readonly erased: ErasedClinicians
}

/** The stages of qualification that end a program's outreach to a clinician. */
const ENDING_STAGES = ["learner_qualified", "completer_qualified"] as const

/** Decides about candidates in order: each is judged against the clinicians that are known, and the candidates before it. */
export const judgeCandidates = (
  candidates: ReadonlyArray<Pick<Candidate, "npi" | "email">>,
  { recipients, suppressions, qualified, erased }: KnownClinicians,
): ReadonlyArray<Exclude<Registration, "updated" | "token_taken">> => {
  const emails = new Map(recipients.map(({ npi, email }) => [npi, email.toLowerCase()]))
  const taken = new Set(emails.values())
  const suppressed = new Set(suppressions.map(({ kind, value }) => `${kind} ${value}`))
  return candidates.map(({ npi, email }) => {
    if (isErased(erased, { npi, email })) return "suppressed"
    const address = email.toLowerCase()
    if (emails.get(npi) === address) return "already_there"
    if (suppressed.has(`npi ${npi}`) || suppressed.has(`email ${address}`) || qualified.has(npi)) return "suppressed"
    if (emails.has(npi)) return "npi_taken"
    if (taken.has(address)) return "email_taken"
    emails.set(npi, address)
    taken.add(address)
    return "registered"
  })
}

/** Locks a campaign that takes recipients, or fails. */
const lockCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const { organizationId, programId, status } = yield* (yield* CampaignRepository).lockForImport(campaignId)
  if (!IMPORTABLE.includes(status)) {
    return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
  }
  return { organizationId, campaignId, programId }
})

type LockedCampaign = Effect.Success<ReturnType<typeof lockCampaign>>

/** Judges candidates for a campaign by all that is known of them, as a part of a transaction that has the clock in hand. */
const judge = Effect.fnUntraced(function* (campaign: LockedCampaign, candidates: ReadonlyArray<Candidate>) {
  const { organizationId, programId, campaignId } = campaign
  if (yield* (yield* ProgramRepository).isQuotaReached(organizationId, programId)) {
    return yield* new QuotaReached({ campaignId, programId })
  }
  const npis = candidates.map(({ npi }) => npi)
  const keys = [
    ...npis.map((value) => ({ kind: "npi" as const, value })),
    ...candidates.map(({ email }) => ({ kind: "email" as const, value: email })),
  ]
  return judgeCandidates(candidates, {
    recipients: yield* (yield* RecipientRepository).findSameClinicians(campaign, candidates),
    suppressions: yield* (yield* SuppressionRepository).find({ programId }, keys).pipe(Effect.orDie),
    qualified: yield* (yield* DigestRepository).findQualified(organizationId, programId, npis, ENDING_STAGES),
    erased: yield* (yield* ErasedClinicianRepository).find(organizationId, candidates),
  })
})

/** Returns what `addRecipients` would return now, and adds nobody; `updated` is not told from `already_there`. */
const judgeRecipients = Effect.fnUntraced(function* (campaignId: CampaignId, candidates: ReadonlyArray<Candidate>) {
  const registrations: ReadonlyArray<Registration> = yield* judge(yield* lockCampaign(campaignId), candidates)
  return registrations
}, inTransaction)

/** Adds recipients to a campaign and keeps the candidates' fields, in one transaction; returns the result for each candidate, in order. */
export const addRecipients = Effect.fn("RecipientImport.addRecipients")(function* (
  campaignId: CampaignId,
  candidates: ReadonlyArray<Candidate>,
) {
  const recipients = yield* RecipientRepository
  const campaign = yield* lockCampaign(campaignId)
  // With the clock in hand: a suppression that comes now waits for this transaction, and withdraws the recipients that it adds.
  const at = yield* (yield* Transaction).commitTimestamp(campaign.organizationId)
  const registrations = yield* judge(campaign, candidates)
  const wanted = candidates.filter((_, i) => registrations[i] === "registered")
  const added = yield* recipients.add(campaign, wanted, at)
  const kept = yield* recipients.keepFields(
    campaign,
    candidates.flatMap(({ npi, fields }, i) =>
      fields !== undefined && HAS_FIELDS.has(registrations[i]!) ? [{ npi, fields }] : [],
    ),
  )
  return candidates.map(({ id, npi }, i): Registration => {
    const registration = registrations[i]!
    if (registration === "registered" && !added.has(id)) return "token_taken"
    return registration === "already_there" && kept.has(npi) ? "updated" : registration
  })
}, inTransaction)

const HAS_FIELDS: ReadonlySet<Registration> = new Set(["registered", "already_there"])

const REASONS = {
  npi_taken: "the campaign has this NPI with another e-mail address",
  email_taken: "the campaign has this e-mail address with another NPI",
} as const

/** Imports a batch of lines; doing it again changes nothing. */
export const importLines = (campaignId: CampaignId, lines: ReadonlyArray<ImportLine>) =>
  registerLines(campaignId, lines, addRecipients)

/** Returns what an import of the lines would, and changes nothing. */
export const checkLines = (campaignId: CampaignId, lines: ReadonlyArray<ImportLine>) =>
  registerLines(campaignId, lines, judgeRecipients)

const registerLines = Effect.fn("RecipientImport.registerLines")(function* <E, R>(
  campaignId: CampaignId,
  lines: ReadonlyArray<ImportLine>,
  register: (id: CampaignId, candidates: ReadonlyArray<Candidate>) => Effect.Effect<ReadonlyArray<Registration>, E, R>,
) {
  const parse = createLineParser(yield* (yield* CampaignRepository).find(campaignId))
  const bad: Array<BadLine> = []
  let waiting: Array<typeof ImportLine.Type> = []
  for (const line of lines) {
    const parsed = parse(line)
    if (Result.isSuccess(parsed)) waiting.push(parsed.success)
    else bad.push({ number: line.number, reason: parsed.failure })
  }
  const counts = { registered: 0, updated: 0, already_there: 0, suppressed: 0 }
  for (let draw = 0; waiting.length > 0; draw++) {
    if (draw === MAX_TOKEN_DRAWS) return yield* new TokensUsedUp()
    const batch = waiting
    const registrations = yield* register(campaignId, yield* Effect.forEach(batch, createCandidate))
    waiting = []
    for (const [i, registration] of registrations.entries()) {
      const line = batch[i]!
      if (registration === "token_taken") waiting.push(line)
      else if (registration === "npi_taken" || registration === "email_taken") {
        bad.push({ number: line.number, reason: REASONS[registration] })
      } else {
        counts[registration]++
      }
    }
  }
  return {
    imported: counts.registered,
    /** Lines whose NPI and e-mail the campaign has already, with other fields. */
    updated: counts.updated,
    /** The same with nothing new. */
    alreadyThere: counts.already_there,
    /** Lines of clinicians to whom the program must not write. */
    suppressed: counts.suppressed,
    bad: bad.sort((a, b) => a.number - b.number),
  }
})
