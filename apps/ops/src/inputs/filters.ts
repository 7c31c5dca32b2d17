import { EVENT_DIRECTIONS } from "@outreach/contract/names"
import { CampaignId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant, PastInstant } from "@outreach/domain/Instant"
import { DnsServer } from "@outreach/process/dnsServers"
import { argument, choice, flag, named, optional, switchFlag } from "./Input.ts"

/** A flag for a date-time with `Z` or an offset, converted to UTC. */
export const instant = (description: string) => flag(Instant, description)

/** A flag for the start of a period, which must not be in the future. */
export const pastInstant = (description: string) => flag(PastInstant, description)

/** `--from` and `--to`, which select by time: `Only those created`. */
export const period = (selected: string) => ({
  from: optional(pastInstant(`${selected} at this time or later, such as 2026-11-01T09:00:00Z`)),
  to: optional(instant(`${selected} before this time`)),
})

export const organizationId = flag(OrganizationId, "The organization's id, org_…")
/** The organization of a command. */
export const organizationArgument = named("organization", argument(OrganizationId, "The organization's id, org_…"))
export const campaignId = argument(CampaignId, "The campaign's id, cmp_…")
export const endpointId = argument(EndpointId, "The endpoint's id, whe_…")

export const campaignFlag = flag(CampaignId, "The campaign's id, cmp_…")

/** Maximum number of rows of a list without pages. */
export const MAX_ROWS = 100_000

export const quiet = switchFlag("Hide the progress")

export const dnsServer = optional(
  flag(DnsServer, "The name server for DNS records, instead of this machine's", "ip[:port]"),
)

export const endpointFilter = optional(flag(EndpointId, "Only those to this endpoint, whe_…"))

export const eventTypeFilter = named(
  "type",
  optional(
    choice(Object.keys(EVENT_DIRECTIONS), "Only events of this type, such as outreach.email_sent", "event-type"),
  ),
)
