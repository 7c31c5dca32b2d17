import { Context, type Effect } from "effect"
import type { CampaignKey } from "../campaigns/Campaign.ts"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { RecipientPosition } from "../recipients/RecipientRepository.ts"
import type { Clinician } from "../suppressions/Clinician.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type {
  ErasedRecipient,
  ErasedSubject,
  ErasureCertificate,
  ErasureState,
  SharedAddress,
  Subject,
} from "./Erasure.ts"
import type { LaterTable, PersonalDataCounts, PersonalTable } from "./PersonalData.ts"

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
    /** Records the end of an erasure, and deletes its state. */
    finish(state: ErasureState): Effect.Effect<ErasureCertificate>
    /** Finds a subject's latest erasure by hash, with its state if it is unfinished. */
    findErasure(
      organizationId: OrganizationId,
      subject: string,
    ): Effect.Effect<{ readonly certificate: ErasureCertificate; readonly state: ErasureState | null } | undefined>
  }
>()("domain/erasure/ErasureRepository") {}
