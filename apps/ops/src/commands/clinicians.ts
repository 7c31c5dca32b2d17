import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import { PersonalDataReader } from "@outreach/backoffice/erasure/PersonalDataReader"
import type { ErasureOutcome } from "@outreach/domain/erasure/Erasures"
import type { PersonalDataCounts } from "@outreach/domain/erasure/PersonalData"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ErasureRepositoryPg } from "@outreach/postgres/erasure/ErasureRepositoryPg"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { RELEASE } from "@outreach/process/release"
import { Console, Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { clinicianFlags, organizationId, readClinician } from "../inputs/filters.ts"
import { optional, switchFlag, text } from "../inputs/Input.ts"
import { confirm, formatRecord, print, printToStderr, yes } from "../output/Output.ts"
import { lazyCipher, secretCipher } from "../secretCipher.ts"

const exportData = revealing({
  about: "Export all data on a clinician as one JSON value, without data on other people",
  examples: [
    "ops clinicians export --organization org_… --npi 1234567893 --out dana.json",
    "ops clinicians export --organization org_… --email dana.reyes@clinic.test",
  ],
  input: {
    organizationId,
    ...clinicianFlags,
    out: optional(text("Write to this new file (readable only by its owner) instead of standard output", "file")),
  },
  *run({ organizationId, out, ...input }) {
    const clinician = yield* readClinician(input)
    // Created before the data is read, so that a wrong path fails early.
    const file = out === undefined ? undefined : yield* createPrivateFile(out)
    const { assertNoUnfinishedErasure } = yield* Effect.promise(() => import("@outreach/domain/erasure/Erasures"))
    yield* assertNoUnfinishedErasure(organizationId, clinician)
    const data = yield* PersonalDataReader.use(({ read }) => read(organizationId, clinician))
    const { organization_id, exported_at, clinician: named, ...tables } = data
    const rows = Object.values(tables).reduce((count, { length }) => count + length, 0)
    const json = JSON.stringify(data, null, 2)
    if (file === undefined) {
      yield* Console.log(json)
      return yield* rows === 0 ? printToStderr("Nothing is held on the clinician.") : Effect.void
    }
    yield* file.append(`${json}\n`)
    yield* file.keep
    return { organizationId, file: out, rows }
  },
  services: ErasureRepositoryPg.pipe(
    Layer.provideMerge(ErasedClinicianRepositoryPg),
    Layer.provide(lazyCipher),
    Layer.merge(PersonalDataReader.layer),
  ),
})

const erase = changing({
  about:
    "Erase a clinician permanently; a keyed hash keeps suppressing them. Prints the certificate. Requires confirmation or --yes",
  examples: [
    "ops clinicians erase --organization org_… --npi 1234567893 --dry-run",
    "ops clinicians erase --organization org_… --npi 1234567893 --yes --output json",
  ],
  input: { organizationId, ...clinicianFlags, dryRun: switchFlag("Only count what would be erased"), yes },
  *run({ organizationId, dryRun, yes, ...input }) {
    const clinician = yield* readClinician(input)
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
    return { outcome, ...certificate }
  },
  format: ({ outcome, ...certificate }) => [
    OUTCOMES[outcome],
    formatRecord({ ...certificate, counts: formatCounts(certificate.counts) }),
  ],
  services: ErasureRepositoryPg.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        DigestRepositoryPg,
        ErasedClinicianRepositoryPg,
        InboxRepositoryPg,
        ProgramRepositoryPg,
        RecipientRepositoryPg,
        SuppressionRepositoryPg,
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

const formatCounts = (counts: PersonalDataCounts): string =>
  Object.entries(counts)
    .flatMap(([table, count]) => (count > 0 ? [`${table}: ${count}`] : []))
    .join(", ") || "nothing is held"

export const clinicians = group({ about: "What is held on a clinician", commands: { export: exportData, erase } })
