import { Flag } from "effect/cli"
import { identifier } from "./identifier.ts"

/** `--organization`: an organization's id. */
export const organization = Flag.String("organization").pipe(
  Flag.withDescription("The organization's id, org_…"),
  Flag.filterMap(...identifier("organization")),
)
