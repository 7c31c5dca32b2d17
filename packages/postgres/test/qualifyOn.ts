import type { FunnelStage } from "@outreach/domain/digest/Digest"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { countFunnel } from "../src/campaigns/countFunnel.ts"
import type { CommitTimestamp } from "../src/events/commitTimestamp.ts"

/** Says that clinicians reached a stage, and counts those who had not, as part of the transaction that was stamped. */
export const qualifyOn = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<{ readonly programId: ProgramId; readonly stage: FunnelStage; readonly npi: string }>,
  stamp: CommitTimestamp,
) {
  const sql = yield* SqlClient.SqlClient
  const added = yield* sql<{ programId: ProgramId; stage: FunnelStage }>`
    insert into qualifications (organization_id, program_id, stage, npi, event_id, counted_at)
    select ${organizationId}, program_id, stage, npi, 'evt_0', ${stamp}::timestamptz
    from unnest(
      ${clinicians.map(({ programId }) => programId)}::text[], ${clinicians.map(({ stage }) => stage)}::text[],
      ${clinicians.map(({ npi }) => npi)}::text[]
    ) as clinician (program_id, stage, npi)
    on conflict do nothing
    returning program_id as "programId", stage`
  yield* countFunnel(organizationId, added, stamp)
})
