import { HeldDataReader } from "@outreach/backoffice/erasure/HeldDataReader"
import { ErasureRepositoryPg } from "@outreach/postgres/erasure/ErasureRepositoryPg"
import { ErasedClinicianRepositoryPg } from "@outreach/postgres/suppressions/ErasedClinicianRepositoryPg"
import { Console, Effect, Layer } from "effect"
import { revealing } from "../Declaration.ts"
import { clinicianFlags, organizationId } from "../inputs/filters.ts"
import { optional, text } from "../inputs/Input.ts"
import { readClinician } from "../inputs/readClinician.ts"
import { createPrivateFile } from "../output/createPrivateFile.ts"
import { printToStderr } from "../output/Output.ts"
import { lazyCipher } from "../secretCipher.ts"

/** `ops clinicians export` */
export const exportData = revealing({
  about: "Write everything that is held on a clinician as one JSON value, without what it says of others",
  examples: [
    "ops clinicians export --organization org_… --npi 1234567893 --out dana.json",
    "ops clinicians export --organization org_… --email dana.reyes@clinic.test",
  ],
  input: {
    organizationId,
    ...clinicianFlags,
    out: optional(text("Write to this new file, which only its owner can read, instead of standard output", "file")),
  },
  *run({ organizationId, out, ...input }) {
    const clinician = yield* readClinician(input)
    // Created before anything is read, so that a wrong path costs nothing.
    const file = out === undefined ? undefined : yield* createPrivateFile(out)
    // Loaded here, because the help does not need the contract's schemas.
    const { assertNoUnfinishedErasure } = yield* Effect.promise(() => import("@outreach/domain/erasure/Erasures"))
    yield* assertNoUnfinishedErasure(organizationId, clinician)
    const data = yield* HeldDataReader.use(({ read }) => read(organizationId, clinician))
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
    Layer.merge(HeldDataReader.layer),
  ),
})
