import { Context, type Effect, Schema } from "effect"
import { Base64 } from "effect/encoding"
import type { CampaignKey } from "../campaigns/Campaign.ts"
import { DescribedError } from "../DescribedError.ts"
import { isAscii } from "../DomainName.ts"
import { ErasureId, OrganizationId, type RecipientId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import { type Clinician, checkDigit, type EmailAddress, type Npi } from "../recipients/Clinician.ts"
import { Recipient, type RecipientPosition } from "../recipients/Recipient.ts"
import { Timestamp } from "../Timestamp.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import { type LaterTable, PERSONAL_TABLES, type PersonalDataCounts, type PersonalTable } from "./PersonalData.ts"

// Glossary. Subject: the person to erase. Placeholder: a valid value that replaces an erased one.

const { id, token, npi, email } = Recipient.fields

/** The person to find: their NPIs, addresses and recipient records in one organization. */
export const Subject = Schema.Struct({
  organizationId: OrganizationId,
  npis: Schema.Array(Schema.String),
  /** In lower case. */
  emails: Schema.Array(Schema.String),
  recipients: Schema.Array(Schema.Struct({ id, token })),
})
export type Subject = typeof Subject.Type

/** Returns whether a subject consists only of records, without NPIs and addresses to find. */
export const isNameless = ({ npis, emails }: Subject): boolean => npis.length === 0 && emails.length === 0

/** Placeholders for a recipient's values. */
export const ErasedRecipient = Schema.Struct({ id, token, npi, email })
export type ErasedRecipient = typeof ErasedRecipient.Type

export const ErasedSubject = Schema.Struct({ ...Subject.fields, placeholders: Schema.Array(ErasedRecipient) })
export type ErasedSubject = typeof ErasedSubject.Type

export const ErasureState = Schema.Struct({ ...ErasedSubject.fields, erasureId: ErasureId })
export type ErasureState = typeof ErasureState.Type

/** Result of an erasure, which is never deleted. Its only data about the person are keyed hashes. */
export const ErasureCertificate = Schema.Struct({
  erasureId: ErasureId,
  organizationId: OrganizationId,
  /** The operator who started it. */
  operator: Schema.String,
  /** The entries of the audit log: the command that started it, and another that finished it. */
  commands: Schema.Array(Schema.String),
  /** Keyed hash of the NPI, or of the address if no NPI was given; hex. */
  subject: Schema.String,
  /** Keyed hashes that continue to suppress; hex. */
  hashes: Schema.Array(Schema.String),
  startedAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp),
  release: Schema.String,
  counts: Schema.Record(Schema.Literals(PERSONAL_TABLES), Schema.optionalKey(Schema.Int)),
})
export type ErasureCertificate = typeof ErasureCertificate.Type

export class ErasureNotFound extends DescribedError("ErasureNotFound", "No erasure {erasureId}.") {}

/** Several NPIs share the address, so it doesn't identify a person. */
export class SharedAddress extends DescribedError(
  "SharedAddress",
  "The address belongs to {npis} NPIs; give the NPI of one of them as well.",
) {}

/** Domain of placeholder addresses, reserved by RFC 2606. */
const ERASED_DOMAIN = "erased.invalid"

/**
 * Creates a placeholder NPI and address; the number makes them unique in the organization.
 *
 * The NPI starts with 0 and has an invalid check digit, so it can't exist: NPIs start with 1 or 2 (45 CFR 162.406).
 */
export const placeholderOf = (number: number): Pick<Recipient, "npi" | "email"> => {
  const digits = String(number % 10 ** 8).padStart(8, "0")
  const wrong = (Number(checkDigit(`0${digits}`)) + 1) % 10
  return { npi: `0${digits}${wrong}` as Npi, email: `${digits}@${ERASED_DOMAIN}` as EmailAddress }
}

export const isPlaceholder = (email: string): boolean => email.endsWith(`@${ERASED_DOMAIN}`)

/** Returns an event's body with placeholders for erased recipients; entries of other recipients are unchanged. */
export const eraseEventBody = (
  { body, recipientId }: { readonly body: string; readonly recipientId: RecipientId | null },
  placeholders: ReadonlyMap<string, ErasedRecipient>,
): string => {
  const event = JSON.parse(body)
  const of = recipientId === null ? undefined : placeholders.get(recipientId)
  if (of !== undefined) replaceValues(event.data, of)
  for (const entry of event.data.recipients ?? []) {
    const erased = placeholders.get(entry.service_recipient_id)
    if (erased !== undefined) replaceValues(entry, erased)
  }
  return JSON.stringify(event)
}

const replaceValues = (data: Record<string, unknown>, { token, npi, email }: ErasedRecipient): void => {
  for (const [key, value] of Object.entries({ token, npi, email })) if (Object.hasOwn(data, key)) data[key] = value
}

/** Parses an event's body; for a batch of recipients, returns only the given ones. */
export const eventPartOf = (body: string, recipientIds: ReadonlySet<string>): unknown => {
  const { data, ...event } = JSON.parse(body)
  if (data.recipients === undefined) return { ...event, data }
  const isOwn = (entry: { readonly service_recipient_id: string }) => recipientIds.has(entry.service_recipient_id)
  return { ...event, data: { ...data, recipients: data.recipients.filter(isOwn) } }
}

export type Needles = Omit<Subject, "organizationId">

/** Creates a function that returns whether a text contains the subject's identifiers, in any case, and encoded in JSON, URLs and base64. */
export const createMatcher = ({ npis, emails, recipients }: Needles): ((text: string) => boolean) => {
  const plain = [
    ...npis.map((npi) => new RegExp(`(?<!\\d)${npi}(?!\\d)`)),
    ...emails.map((email) => new RegExp(`(?<![\\w.+-])${email.replaceAll(/[^\w@]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "i")),
    ...recipients.map(({ token }) => new RegExp(`(?<![0-9A-Za-z])${token}(?![0-9A-Za-z])`)),
  ]
  const encoded = [...npis, ...emails].flatMap(base64Forms)
  return (text) =>
    encoded.some((form) => text.includes(form)) ||
    [
      text,
      unescapeHex(text.replaceAll(/\\[bfnrt]/g, " "), /\\u([0-9a-f]{4})/gi),
      unescapeHex(text, /%([0-7][0-9a-f])/gi),
    ].some((form) => plain.some((pattern) => pattern.test(form)))
}

/** Returns `like` patterns for lowercase text that cover all matches of `createMatcher`. */
export const likePatterns = ({ npis, emails, recipients }: Needles): ReadonlyArray<string> => {
  const values = [...npis, ...emails, ...recipients.map(({ token }) => token)]
  const escaped = emails.every(isAscii) ? "\\u00" : "\\u"
  const forms = [...values, ...[...npis, ...emails].flatMap(base64Forms), escaped, "%40"]
  return forms.map((form) => `%${form.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`)
}

const unescapeHex = (text: string, pattern: RegExp): string =>
  text.replaceAll(pattern, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

const encoder = new TextEncoder()

/** Returns the base64 and base64url forms of a value inside any text, for each of the three possible offsets. */
const base64Forms = (value: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = new Uint8Array([...new Uint8Array(offset), ...encoder.encode(value)])
    const whole = Base64.encode(bytes).slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
    return [...new Set([whole, whole.replaceAll("+", "-").replaceAll("/", "_")])]
  })

export class ErasureRepository extends Context.Service<
  ErasureRepository,
  {
    /**
     * Finds the person with an NPI or an address, including their other NPIs and addresses.
     *
     * An address shared with other NPIs belongs to the subject only if it is given.
     */
    findSubject(
      organizationId: OrganizationId,
      clinician: Clinician,
    ): Effect.Effect<Subject, OrganizationNotFound | SharedAddress>
    /** Finds the next campaign that ended at least `months` ago with recipients that aren't erased; null starts with the first. */
    findEnded(months: number, after: CampaignKey | null): Effect.Effect<CampaignKey | undefined>
    /** Reads a few thousand recipients of a campaign after a position, and returns those that aren't erased; null is the first and last position. */
    readUnerased(
      campaign: CampaignKey,
      after: RecipientPosition | null,
    ): Effect.Effect<{ readonly ids: ReadonlyArray<RecipientId>; readonly next: RecipientPosition | null }>
    /**
     * Finds recipients by id, as a subject without NPIs and addresses.
     *
     * Excludes recipients that are erased, or have a pending unsubscription.
     */
    findRecipients(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<Subject>
    count(subject: Subject, table: PersonalTable): Effect.Effect<number>
    /** Reserves `count` placeholder numbers of the organization. Returns the first. */
    reservePlaceholders(organizationId: OrganizationId, count: number): Effect.Effect<number>
    /** Erases the last replies of recipients' domains, which may be about them; before the organization's clock is locked. */
    eraseReplies(subject: Subject): Effect.Effect<void>
    /** Erases the recipients with their messages, unsubscriptions, suppressions and qualifications; part of a stamped transaction. */
    eraseAtOnce(
      subject: Subject,
      placeholders: ReadonlyArray<ErasedRecipient>,
      at: CommitTimestamp,
    ): Effect.Effect<PersonalDataCounts>
    /** Erases a subject's rows of another table in separate batch transactions. Returns their number. */
    erase(subject: ErasedSubject, table: LaterTable): Effect.Effect<number>
    /** Deletes all stored responses of the organization, which may contain the subject: their requests are executed again, and only read. */
    eraseResponses(organizationId: OrganizationId): Effect.Effect<void>
    /** Deletes erased events that no worker can still have in memory. */
    readonly forgetEvents: Effect.Effect<void>
    /** Counts the partner's pending events about a subject. */
    countWaiting(subject: Subject): Effect.Effect<number>
    /** Records the start of an erasure, with its encrypted state. */
    begin(certificate: Omit<ErasureCertificate, "startedAt" | "finishedAt">, state: ErasureState): Effect.Effect<void>
    progress(state: ErasureState, table: PersonalTable, count: number): Effect.Effect<void>
    /** Records the end of an erasure with its command, and deletes its state. */
    finish(state: ErasureState, command: string | null): Effect.Effect<ErasureCertificate>
    find(erasureId: ErasureId): Effect.Effect<ErasureCertificate, ErasureNotFound>
    /** Finds a subject's latest erasure by hash, with its state if it is unfinished. */
    findErasure(
      organizationId: OrganizationId,
      subject: string,
    ): Effect.Effect<{ readonly certificate: ErasureCertificate; readonly state: ErasureState | null } | undefined>
  }
>()("domain/erasure/ErasureRepository") {}
