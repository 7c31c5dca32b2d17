import type { FunnelStage } from "@outreach/domain/digest/Digest"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect } from "effect"

/** Counts clinicians who reached a stage, as an event that nobody sent. */
export const qualifyOn = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<{ readonly programId: ProgramId; readonly stage: FunnelStage; readonly npi: string }>,
  at: CommitTimestamp,
) {
  const qualifications = clinicians.map((clinician) => ({ ...clinician, eventId: "evt_0" }))
  yield* (yield* DigestRepository).countQualifications(organizationId, qualifications, at)
})
