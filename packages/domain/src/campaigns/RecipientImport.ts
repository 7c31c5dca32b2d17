import { Effect, Result, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { DigestRepository } from "../digest/Digest.ts"
import { type CampaignId, createIdentifier, randomBase62 } from "../Identifier.ts"
import { createFieldsCheck } from "../mail/templates/Template.ts"
import { ProgramRepository } from "../programs/Programs.ts"
import { EmailAddress, Npi } from "../recipients/Clinician.ts"
import { type Candidate, type Recipient, RecipientRepository, TOKEN_LENGTH } from "../recipients/Recipient.ts"
import { RecipientFields } from "../recipients/RecipientFields.ts"
import { ErasedClinicianRepository, type ErasedClinicians, isErased } from "../suppressions/ErasedClinicians.ts"
import type { SuppressionKey } from "../suppressions/Suppression.ts"
import { SuppressionRepository } from "../suppressions/Withdrawals.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { parseInput } from "../textSchema.ts"
import { type Campaign, IMPORTABLE } from "./Campaign.ts"
import { CampaignNotInStatus, CampaignRepository, QuotaReached } from "./CampaignRepository.ts"

/** RFC 5321, 4.5.3.1.3: a path has at most 256 octets, including its angle brackets. */
const MAX_EMAIL_LENGTH = 254

export const ImportLine = Schema.Struct({
  /** Counted from 1, including the header. */
  number: Schema.Int,
  npi: Npi,
  email: EmailAddress.check(
    Schema.makeFilter(
      (text) => new TextEncoder().encode(text).length <= MAX_EMAIL_LENGTH || "the e-mail address is not valid",
    ),
  ),
  /** Absent if the import has no fields. */
  fields: Schema.optionalKey(RecipientFields),
})
export type ImportLine = typeof ImportLine.Encoded

/** A line that can't be imported, and the reason, without quoting the line. */
export interface BadLine {
  readonly number: number
  readonly reason: string
}

const MAX_TOKEN_DRAWS = 10

/** Creates a candidate with a new id and a random token, which may already be used. */
const createCandidate = Effect.fnUntraced(function* (given: Omit<Candidate, "id" | "token">) {
  const id = yield* createIdentifier("recipient")
  const token = yield* randomBase62(TOKEN_LENGTH)
  return { ...given, id, token } satisfies Candidate
})

/** No unused token was found in ten draws; the 62⁶ tokens of an organization are nearly used up. */
export class TokensUsedUp extends DescribedError("TokensUsedUp", "No free recipient token was found in ten draws.") {}

const parseLine = parseInput(ImportLine)

/** Creates the function that parses and checks a line of an import; it fails with the reason. */
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
 * Result of a candidate: `token_taken` requires another token; `already_there` is an existing NPI and e-mail address; `updated` is one with
 * different fields; `suppressed` is a clinician who must not receive e-mails of the program, because of a suppression or a qualification.
 */
export type Registration =
  | "registered"
  | "updated"
  | "already_there"
  | "suppressed"
  | "npi_taken"
  | "email_taken"
  | "token_taken"

/** Candidates who are already recipients of the campaign, suppressed, qualified, or erased. */
export interface KnownClinicians {
  readonly recipients: ReadonlyArray<Pick<Recipient, "npi" | "email">>
  readonly suppressions: ReadonlyArray<SuppressionKey>
  readonly qualified: ReadonlySet<string>
  readonly erased: ErasedClinicians
}

/** Qualifications that end a program's outreach to a clinician. */
const ENDING_STAGES = ["learner_qualified", "completer_qualified"] as const

/** Decides about candidates in order, compared with known clinicians and earlier candidates. */
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

/** Locks a campaign that accepts recipients, or fails. */
const lockCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const { organizationId, programId, status } = yield* (yield* CampaignRepository).lockForImport(campaignId)
  if (!IMPORTABLE.includes(status)) {
    return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
  }
  return { organizationId, campaignId, programId }
})

type LockedCampaign = Effect.Success<ReturnType<typeof lockCampaign>>

/** Decides about candidates for a campaign, in a transaction that holds the clock. */
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

/** Returns the result of `addRecipients` without adding anyone; `updated` isn't distinguished from `already_there`. */
const judgeRecipients = Effect.fnUntraced(function* (campaignId: CampaignId, candidates: ReadonlyArray<Candidate>) {
  const registrations: ReadonlyArray<Registration> = yield* judge(yield* lockCampaign(campaignId), candidates)
  return registrations
}, inTransaction)

/** Adds recipients to a campaign and stores their fields, in one transaction. Returns each candidate's result in order. */
export const addRecipients = Effect.fn("RecipientImport.addRecipients")(function* (
  campaignId: CampaignId,
  candidates: ReadonlyArray<Candidate>,
) {
  const recipients = yield* RecipientRepository
  const campaign = yield* lockCampaign(campaignId)
  // Holds the clock: a concurrent suppression waits for this transaction, and withdraws the added recipients.
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

/** Imports a batch of lines; repetitions have no effect. */
export const importLines = (campaignId: CampaignId, lines: ReadonlyArray<ImportLine>) =>
  registerLines(campaignId, lines, addRecipients)

/** Returns the result of an import without changes. */
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
    /** Lines with an existing NPI and e-mail address and different fields. */
    updated: counts.updated,
    /** Lines without changes. */
    alreadyThere: counts.already_there,
    /** Lines of clinicians who must not receive e-mails of the program. */
    suppressed: counts.suppressed,
    bad: bad.sort((a, b) => a.number - b.number),
  }
})
