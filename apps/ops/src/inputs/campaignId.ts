import { Argument } from "effect/cli"
import { identifier } from "./identifier.ts"

/** The argument for a campaign's id. */
export const campaignId = Argument.String("campaign").pipe(
  Argument.withDescription("The campaign's id, cmp_…"),
  Argument.filterMap(...identifier("campaign")),
)
