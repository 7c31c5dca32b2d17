import { EVENT_DIRECTIONS } from "@outreach/contract/names"
import { CampaignId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Flag } from "effect/cli"
import { parsedArgument, parsedFlag, switchFlag, wholeNumberFlag } from "./parsedInput.ts"

/** `--organization`: an organization's id. */
export const organization = parsedFlag("organization", OrganizationId, "The organization's id, org_…")

/** The argument for a campaign's id. */
export const campaignId = parsedArgument("campaign", CampaignId, "The campaign's id, cmp_…")

/** `--limit`: the maximum of rows in a list. */
export const limit = wholeNumberFlag("limit", 1, 1000, "The maximum of rows to show, 1 to 1000 (default 50)").pipe(
  Flag.withDefault(50),
)

/** `--ignore-columns`: whether an import file may have other columns than those that are imported. */
export const ignoreColumns = switchFlag(
  "ignore-columns",
  "Leave out columns beside npi and email, instead of refusing the file",
)

/** `--endpoint`: only deliveries to this endpoint. */
export const endpointFilter = parsedFlag("endpoint", EndpointId, "Only those to this endpoint, whe_…").pipe(
  Flag.optional,
)

/** `--type`: only deliveries of events of this type. */
export const eventTypeFilter = Flag.Literals("type", Object.keys(EVENT_DIRECTIONS)).pipe(
  Flag.withMetavar("event-type"),
  Flag.withDescription("Only events of this type, such as outreach.email_sent"),
  Flag.optional,
)
