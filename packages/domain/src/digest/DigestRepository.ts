import { Context, type Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { OrganizationId, ProgramId } from "../Identifier.ts"
import type { Npi } from "../recipients/Npi.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { CalendarDate } from "./CalendarDate.ts"
import { ReadDate } from "./DateRange.ts"
import type { CompleterQuota, DigestRecord, FunnelStage, Qualification } from "./Digest.ts"

export class DateInFuture extends DescribedError("DateInFuture", "{date} has not begun yet (UTC).") {}

/** A stored count that differs from its sources. */
export const Discrepancy = Schema.Struct({
  organizationId: OrganizationId,
  programId: ProgramId,
  date: ReadDate,
  /** Name of the count, such as `unique_opened`. */
  count: Schema.String,
  kept: Schema.Int,
  counted: Schema.Int,
})
export type Discrepancy = typeof Discrepancy.Type

export class DigestRepository extends Context.Service<
  DigestRepository,
  {
    /**
     * Counts each clinician once per program and stage, on the date of the timestamp.
     *
     * Returns the quotas of programs with a new clinician.
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
    /** Reads a date of every program of an organization, oldest program first. The cost doesn't depend on the counted events. */
    read(organizationId: OrganizationId, date: CalendarDate): Effect.Effect<ReadonlyArray<DigestRecord>, DateInFuture>
    /** Recounts a date of one organization or all, and returns the differing counts. Reads every event of the date. */
    recount(date: CalendarDate, organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<Discrepancy>>
  }
>()("domain/digest/DigestRepository") {}
