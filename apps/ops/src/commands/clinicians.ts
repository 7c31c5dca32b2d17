import { createPrivateFile } from "@outreach/backoffice/createPrivateFile"
import { PersonalDataReader } from "@outreach/backoffice/erasure/PersonalDataReader"
import { eraseClinician, exportClinician, formatCounts, planErasure } from "@outreach/backoffice/operations/clinicians"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ErasureRepositoryPg } from "@outreach/postgres/erasure/ErasureRepositoryPg"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { Console, Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { optional, switchFlag, text } from "../inputs/Input.ts"
import { confirmPlan, inputsOf } from "../operationCommand.ts"
import { formatRecord, print, printToStderr, yes } from "../output/Output.ts"
import { lazyCipher, secretCipher } from "../secretCipher.ts"

const exportData = revealing({
  about: exportClinician.about,
  examples: exportClinician.examples!,
  input: {
    ...inputsOf(exportClinician.input),
    out: optional(text("Write to this new file (readable only by its owner) instead of standard output", "file")),
  },
  *run({ out, ...given }) {
    // Created before the data is read, so that a wrong path fails early.
    const file = out === undefined ? undefined : yield* createPrivateFile(out)
    const data = yield* exportClinician.run(given, "")
    const { organization_id: organizationId, exported_at, clinician: named, ...tables } = data
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
    Layer.merge(TimelineReader.layer),
    Layer.provideMerge(ErasedClinicianRepositoryPg),
    Layer.provide(lazyCipher),
    Layer.merge(PersonalDataReader.layer),
  ),
})

const erase = changing({
  about: `${eraseClinician.about}. Requires confirmation or --yes`,
  examples: eraseClinician.examples!,
  input: { ...inputsOf(eraseClinician.input), dryRun: switchFlag("Only count what would be erased"), yes },
  *run({ dryRun, yes, ...given }) {
    if (dryRun) {
      const { organizationId, counts, earlier, unfinished } = yield* planErasure(given)
      const isUnfinished = unfinished !== undefined
      const plan = { organizationId, counts, erasedAt: earlier?.finishedAt ?? null, isUnfinished }
      return yield* print(plan, () => formatRecord({ ...plan, counts: formatCounts(counts) }))
    }
    yield* confirmPlan(yield* eraseClinician.plan!(given), { yes })
    return yield* eraseClinician.run(given, "")
  },
  format: (result) => formatRecord({ ...result, counts: formatCounts(result.counts) }),
  note: (result) => eraseClinician.done(result, {}),
  services: ErasureRepositoryPg.pipe(
    Layer.merge(TimelineReader.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        DigestRepositoryPg,
        ErasedClinicianRepositoryPg,
        InboxRepositoryPg,
        OrganizationReader.layer,
        ProgramRepositoryPg,
        RecipientRepositoryPg,
        SuppressionRepositoryPg,
        WithdrawalRepositoryPg,
      ),
    ),
    Layer.provide(secretCipher),
  ),
})

export const clinicians = group({ about: "What is held on a clinician", commands: { export: exportData, erase } })
