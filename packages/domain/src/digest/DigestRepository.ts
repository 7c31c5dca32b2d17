import { Context, type Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { OrganizationId, ProgramId } from "../Identifier.ts"
import type { Npi } from "../recipients/Npi.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { CalendarDate } from "./CalendarDate.ts"
import { ReadDate } from "./DateRange.ts"
import type { CompleterQuota, DigestRecord, FunnelStage, Qualification } from "./Digest.ts"

export class DateInFuture extends DescribedError("DateInFuture", "{date} has not begun yet (UTC).") {}

/** A count that is kept and differs from what its sources say. */
export const Discrepancy = Schema.Struct({
  organizationId: OrganizationId,
  programId: ProgramId,
  date: ReadDate,
  /** The name of the count, such as `unique_opened`. */
  count: Schema.String,
  kept: Schema.Int,
  counted: Schema.Int,
})
export type Discrepancy = typeof Discrepancy.Type

export class DigestRepository extends Context.Service<
  DigestRepository,
  {
    /**
     * Counts each clinician once for a program and stage, on the date of the timestamp.
     *
     * Returns the quotas of the programs that count another clinician now.
     */
    countQualifications(
      organizationId: OrganizationId,
      qualifications: ReadonlyArray<Qualification & { readonly npi: Npi; readonly eventId: string }>,
      at: CommitTimestamp,
    ): Effect.Effect<ReadonlyArray<CompleterQuota>>
    findQualified(
      organizationId: OrganizationId,
      programId: ProgramId,
      npis: ReadonlyArray<string>,
      stages: ReadonlyArray<FunnelStage>,
    ): Effect.Effect<ReadonlySet<string>>
    /** Reads a date of every program of an organization, oldest program first; its cost does not grow with what was counted. */
    read(organizationId: OrganizationId, date: CalendarDate): Effect.Effect<ReadonlyArray<DigestRecord>, DateInFuture>
    /** Counts a date anew, of one organization or of all, and returns the counts that differ; reads every event of the date. */
    recount(date: CalendarDate, organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<Discrepancy>>
  }
>()("domain/digest/DigestRepository") {}
