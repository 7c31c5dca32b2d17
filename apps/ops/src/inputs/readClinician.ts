import { parseInput } from "@outreach/domain/parseInput"
import { Effect, Schema } from "effect"
import type { clinicianFlags } from "./filters.ts"
import type { Values } from "./Input.ts"

/** `--npi` and `--email` name no clinician. */
class InvalidClinician extends Schema.TaggedError<InvalidClinician>()("InvalidClinician", { reason: Schema.String }) {
  override get message(): string {
    return `Name the clinician with --npi, with --email, or with both: ${this.reason}.`
  }
}

/** Reads the clinician that the flags name; fails if they name nobody, and repeats neither value. */
export const readClinician = Effect.fnUntraced(function* (flags: Values<typeof clinicianFlags>) {
  // Loaded here, because `list` does not need the contract's schemas.
  const { Clinician } = yield* Effect.promise(() => import("@outreach/domain/suppressions/Clinician"))
  const clinician = parseInput(Clinician)({ npi: flags.npi ?? null, email: flags.email ?? null })
  return yield* Effect.mapError(Effect.fromResult(clinician), ({ reason }) => new InvalidClinician({ reason }))
})
