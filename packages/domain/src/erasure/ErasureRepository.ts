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
     * Finds the person of an NPI or an address, with their other NPIs and addresses.
     *
     * An address that other NPIs have as well belongs to the subject only if it is named.
     */
    findSubject(
      organizationId: OrganizationId,
      clinician: Clinician,
    ): Effect.Effect<Subject, OrganizationNotFound | SharedAddress>
    /** Finds the next campaign that ended at least `months` ago and has recipients who are not erased; null begins with the first. */
    findEnded(months: number, after: CampaignKey | null): Effect.Effect<CampaignKey | undefined>
    /** Reads some thousand recipients of a campaign from a position on, and returns those who are not erased; null is the first and the last position. */
    readUnerased(
      campaign: CampaignKey,
      after: RecipientPosition | null,
    ): Effect.Effect<{ readonly ids: ReadonlyArray<RecipientId>; readonly next: RecipientPosition | null }>
    /**
     * Finds recipients by their ids, as a subject without NPIs and addresses of its own.
     *
     * Leaves out recipients who are erased, or whose unsubscription is not applied yet.
     */
    findRecipients(organizationId: OrganizationId, ids: ReadonlyArray<string>): Effect.Effect<Subject>
    count(subject: Subject, table: PersonalTable): Effect.Effect<number>
    /** Reserves `count` placeholder numbers of the organization; returns the first. */
    reservePlaceholders(organizationId: OrganizationId, count: number): Effect.Effect<number>
    /** Erases the recipients with their messages, unsubscriptions, suppressions and qualifications; part of a stamped transaction. */
    eraseAtOnce(
      subject: Subject,
      placeholders: ReadonlyArray<ErasedRecipient>,
      at: CommitTimestamp,
    ): Effect.Effect<PersonalDataCounts>
    /** Erases the rows of another table that concern a subject, in batches that are transactions of their own; returns how many there were. */
    erase(subject: ErasedSubject, table: LaterTable): Effect.Effect<number>
    /** Forgets erased events that no worker can still have in memory. */
    readonly forgetEvents: Effect.Effect<void>
    /** Counts the partner's events that name a subject and are not applied yet. */
    countWaiting(subject: Subject): Effect.Effect<number>
    /** Records an erasure that begins, with its state encrypted. */
    begin(certificate: Omit<ErasureCertificate, "startedAt" | "finishedAt">, state: ErasureState): Effect.Effect<void>
    progress(state: ErasureState, table: PersonalTable, count: number): Effect.Effect<void>
    /** Records that an erasure is finished, and forgets its state. */
    finish(state: ErasureState): Effect.Effect<ErasureCertificate>
    /** Finds the newest erasure of a subject by its hash, with its state while it is not finished. */
    findErasure(
      organizationId: OrganizationId,
      subject: string,
    ): Effect.Effect<{ readonly certificate: ErasureCertificate; readonly state: ErasureState | null } | undefined>
  }
>()("domain/erasure/ErasureRepository") {}
