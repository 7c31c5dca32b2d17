import { parseInput } from "@outreach/domain/parseInput"
import { Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"

/** The command line does not name a valid clinician. */
class InvalidClinician extends Schema.TaggedError<InvalidClinician>()("InvalidClinician", { reason: Schema.String }) {
  override get message(): string {
    return `Name the clinician with --npi, with --email, or with both: ${this.reason}.`
  }
}

/** `--npi` and `--email`: whom a command is about. */
export const clinicianFlags = {
  npi: Flag.String("npi").pipe(Flag.withDescription("The clinician's NPI"), Flag.optional),
  email: Flag.String("email").pipe(
    Flag.withDescription("The clinician's e-mail address; its case does not matter"),
    Flag.optional,
  ),
}

/** Reads the clinician that the flags name; fails if they name nobody, and repeats neither value. */
export const readClinician = Effect.fnUntraced(function* (input: {
  readonly npi: Option.Option<string>
  readonly email: Option.Option<string>
}) {
  // Loaded here, because `list` does not need the contract's schemas.
  const { Clinician } = yield* Effect.promise(() => import("@outreach/domain/suppressions/Clinician"))
  const clinician = parseInput(Clinician)({ npi: Option.getOrNull(input.npi), email: Option.getOrNull(input.email) })
  return yield* Effect.mapError(Effect.fromResult(clinician), ({ reason }) => new InvalidClinician({ reason }))
})
