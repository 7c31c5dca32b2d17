import { Flag } from "effect/cli"

/** `--ignore-columns`: whether an import file may have other columns than those that are imported. */
export const ignoreColumns = Flag.Boolean("ignore-columns").pipe(
  Flag.withDescription("Leave out columns beside npi and email, instead of refusing the file"),
  Flag.withDefault(false),
)
