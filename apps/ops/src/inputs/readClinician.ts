import { parseInput } from "@outreach/domain/parseInput"
import { Effect } from "effect"
import { refusal } from "../output/refuse.ts"
import type { clinicianFlags } from "./filters.ts"
import type { Values } from "./Input.ts"

/** Reads the clinician that the flags name; fails if they name nobody, and repeats neither value. */
export const readClinician = Effect.fnUntraced(function* (flags: Values<typeof clinicianFlags>) {
  // Loaded here, because `list` does not need the contract's schemas.
  const { Clinician } = yield* Effect.promise(() => import("@outreach/domain/suppressions/Clinician"))
  const clinician = parseInput(Clinician)({ npi: flags.npi ?? null, email: flags.email ?? null })
  return yield* Effect.mapError(Effect.fromResult(clinician), ({ reason }) =>
    refusal("InvalidClinician", `Name the clinician with --npi, with --email, or with both: ${reason}.`, { reason }),
  )
})
