import { Flag } from "effect/cli"

/** Lets an import file have columns beside those that are imported. */
export const ignoreColumns = Flag.Boolean("ignore-columns").pipe(
  Flag.withDescription("Leave out columns beside npi and email, instead of refusing the file"),
  Flag.withDefault(false),
)
