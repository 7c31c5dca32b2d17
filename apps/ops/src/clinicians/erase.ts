import type { HeldCounts } from "@outreach/domain/erasure/Erasure"
import type { ErasureOutcome } from "@outreach/domain/erasure/Erasures"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ErasureRepositoryPg } from "@outreach/postgres/erasure/ErasureRepositoryPg"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { RELEASE } from "@outreach/process/release"
import { Effect, Layer } from "effect"
import { changing } from "../Declaration.ts"
import { clinicianFlags, organizationId } from "../inputs/filters.ts"
import { switchFlag } from "../inputs/Input.ts"
import { readClinician } from "../inputs/readClinician.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatRecord, print } from "../output/Output.ts"
import { secretCipher } from "../secretCipher.ts"

/** `ops clinicians erase` */
export const erase = changing({
  about:
    "Erase a clinician everywhere, for good; a keyed hash goes on suppressing. Prints the certificate. Asks first, or needs --yes",
  examples: [
    "ops clinicians erase --organization org_… --npi 1234567893 --dry-run",
    "ops clinicians erase --organization org_… --npi 1234567893 --yes --json",
  ],
  input: { organizationId, ...clinicianFlags, dryRun: switchFlag("Only count what would be erased"), yes },
  *run({ organizationId, dryRun, yes, ...input }) {
    const clinician = yield* readClinician(input)
    // Loaded here, because the help does not need the contract's schemas.
    const { eraseClinician, planErasure } = yield* Effect.promise(() => import("@outreach/domain/erasure/Erasures"))
    const { counts, earlier, unfinished } = yield* planErasure(organizationId, clinician)
    if (dryRun) {
      const isUnfinished = unfinished !== undefined
      const plan = { organizationId, counts, erasedAt: earlier?.finishedAt ?? null, isUnfinished }
      return yield* print(plan, () => formatRecord({ ...plan, counts: formatCounts(counts) }))
    }
    const action =
      unfinished === undefined
        ? `erase the clinician from ${organizationId} for good (${formatCounts(counts)})`
        : `finish the erasure of the clinician from ${organizationId} that was cut off`
    yield* confirm(action, { yes })
    const { outcome, certificate } = yield* eraseClinician(organizationId, clinician, RELEASE)
    yield* print({ outcome, ...certificate }, () =>
      [OUTCOMES[outcome], formatRecord({ ...certificate, counts: formatCounts(certificate.counts) })].join("\n\n"),
    )
  },
  services: ErasureRepositoryPg.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        DigestRepositoryPg,
        ErasedClinicianRepositoryPg,
        InboxRepositoryPg,
        ProgramRepositoryPg,
        RecipientRepositoryPg,
        SuppressionRepositoryPg,
        TransactionPg,
        WithdrawalRepositoryPg,
      ),
    ),
    Layer.provide(secretCipher),
  ),
})

const OUTCOMES: Readonly<Record<ErasureOutcome, string>> = {
  erased: "The clinician is erased.",
  resumed: "The erasure that was cut off is finished.",
  repeated: "The clinician was erased before, and nothing more was found.",
}

const formatCounts = (counts: HeldCounts): string =>
  Object.entries(counts)
    .flatMap(([table, count]) => (count > 0 ? [`${table}: ${count}`] : []))
    .join(", ") || "nothing is held"
