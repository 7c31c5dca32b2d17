import { Context, type Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { Npi } from "../recipients/Npi.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { CalendarDate } from "./CalendarDate.ts"
import type { CompleterQuota, DigestRecord, FunnelStage, Qualification } from "./Digest.ts"

export class DateInFuture extends DescribedError("DateInFuture", "{date} has not begun yet (UTC).") {}

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
  }
>()("domain/digest/DigestRepository") {}
