import { CampaignId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { DnsServer } from "@outreach/process/dnsServers"
import { argument, flag, named, optional, switchFlag } from "./Input.ts"

/** A flag for a date-time with `Z` or an offset, converted to UTC. */
export const instant = (description: string) => flag(Instant, description)

export const organizationId = flag(OrganizationId, "The organization's id, org_…")
/** The organization of a command. */
export const organizationArgument = named("organization", argument(OrganizationId, "The organization's id, org_…"))
export const campaignId = argument(CampaignId, "The campaign's id, cmp_…")
export const endpointId = argument(EndpointId, "The endpoint's id, whe_…")

export const campaignFlag = flag(CampaignId, "The campaign's id, cmp_…")

export const quiet = switchFlag("Hide the progress")

export const dnsServer = optional(
  flag(DnsServer, "The name server for DNS records, instead of this machine's", "ip[:port]"),
)
