import { HeldDataReader } from "@outreach/backoffice/erasure/HeldDataReader"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { revealing } from "../audit/Access.ts"
import { clinicianFlags, readClinician } from "../inputs/clinicianFlags.ts"
import { organization } from "../inputs/commonFlags.ts"
import { createPrivateFile } from "../output/createPrivateFile.ts"
import { printRecord, printToStderr } from "../output/Output.ts"

/** `ops clinicians export` */
export const exportData = revealing(
  "export",
  {
    organization,
    ...clinicianFlags,
    out: Flag.String("out").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("Write to this new file, which only its owner can read, instead of standard output"),
      Flag.optional,
    ),
  },
  Effect.fn("ops.clinicians.export")(function* ({ organization: organizationId, out, ...input }) {
    const clinician = yield* readClinician(input)
    // Created before anything is read, so that a wrong path costs nothing.
    const file = Option.isSome(out) ? yield* createPrivateFile(out.value) : undefined
    // Loaded here, because the help does not need the contract's schemas.
    const { assertNoUnfinishedErasure } = yield* Effect.promise(() => import("@outreach/domain/erasure/Erasures"))
    yield* assertNoUnfinishedErasure(organizationId, clinician)
    const data = yield* (yield* HeldDataReader).read(organizationId, clinician)
    const { organization_id, exported_at, clinician: named, ...tables } = data
    const rows = Object.values(tables).reduce((count, { length }) => count + length, 0)
    const text = JSON.stringify(data, null, 2)
    if (file === undefined) {
      yield* Console.log(text)
      return yield* rows === 0 ? printToStderr("Nothing is held on the clinician.") : Effect.void
    }
    yield* file.append(`${text}\n`)
    yield* file.keep
    yield* printRecord({ organizationId, file: Option.getOrNull(out), rows })
  }, Effect.scoped),
).pipe(
  Command.withDescription(
    "Write everything that is held on a clinician as one JSON value, without what it says of others",
  ),
  Command.withExamples([
    { command: "ops clinicians export --organization org_… --npi 1234567893 --out dana.json" },
    { command: "ops clinicians export --organization org_… --email dana.reyes@clinic.test" },
  ]),
)
