import type { HeldCounts } from "@outreach/domain/erasure/Erasure"
import type { ErasureOutcome } from "@outreach/domain/erasure/Erasures"
import { RELEASE } from "@outreach/process/release"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { clinicianFlags, readClinician } from "../inputs/clinicianFlags.ts"
import { organization } from "../inputs/commonFlags.ts"
import { switchFlag } from "../inputs/parsedInput.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatRecord, print } from "../output/Output.ts"

/** `ops clinicians erase` */
export const erase = changing(
  "erase",
  {
    organization,
    ...clinicianFlags,
    dryRun: switchFlag("dry-run", "Only count what would be erased"),
    yes,
  },
  Effect.fn("ops.clinicians.erase")(function* ({ organization: organizationId, dryRun, yes, ...input }) {
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
  }),
).pipe(
  Command.withDescription(
    "Erase a clinician everywhere, for good; a keyed hash goes on suppressing. Prints the certificate. Asks first, or needs --yes",
  ),
  Command.withExamples([
    { command: "ops clinicians erase --organization org_… --npi 1234567893 --dry-run" },
    { command: "ops clinicians erase --organization org_… --npi 1234567893 --yes --json" },
  ]),
)

const OUTCOMES: Readonly<Record<ErasureOutcome, string>> = {
  erased: "The clinician is erased.",
  resumed: "The erasure that was cut off is finished.",
  repeated: "The clinician was erased before, and nothing more was found.",
}

const formatCounts = (counts: HeldCounts): string =>
  Object.entries(counts)
    .flatMap(([table, count]) => (count > 0 ? [`${table}: ${count}`] : []))
    .join(", ") || "nothing is held"
