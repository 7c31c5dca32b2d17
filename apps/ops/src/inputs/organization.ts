import { Flag } from "effect/cli"
import { identifier } from "./identifier.ts"

/** Which organization is meant. */
export const organization = Flag.String("organization").pipe(
  Flag.withDescription("The organization's id, org_…"),
  Flag.filterMap(...identifier("organization")),
)
