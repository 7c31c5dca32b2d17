import type { LookupAddress, MxRecord } from "node:dns"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { askAddresses, askExchanges, UnresolvedName } from "./askName.ts"
import { boundedLookups } from "./boundedLookups.ts"

/** Names that partners control: the hosts of their endpoints, and the domains of their recipients. */
export interface PartnerNames {
  /** Finds the addresses of a host. Fails with `UnresolvedName`, or with `NameNotAsked` when it had no turn. */
  readonly addresses: (host: string, organizationId: OrganizationId) => Promise<ReadonlyArray<LookupAddress>>
  /** Finds the MX records of a domain, none where there are none. Fails as `addresses` does. All organizations share the domains, and the bound of one. */
  readonly exchanges: (domain: string) => Promise<ReadonlyArray<MxRecord>>
}

/** RFC 6761, 6.3: no name server is asked for these. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i
const LOOPBACK: ReadonlyArray<LookupAddress> = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
]

/**
 * Creates what resolves names that partners control, by name servers; with none, by those of this machine.
 *
 * It never uses the thread pool, in which the operator's names are resolved: however many of these names do not resolve, the database is found.
 */
export const partnerNames = (servers: ReadonlyArray<string>): PartnerNames => {
  const lookUp = boundedLookups()
  return {
    addresses: async (host, organizationId) =>
      LOCALHOST.test(host) ? LOOPBACK : lookUp(`A ${host}`, organizationId, () => askAddresses(servers, host)),
    exchanges: (domain) =>
      lookUp(`MX ${domain}`, "mail", () => askExchanges(servers, domain)).catch((error) => {
        if (error instanceof UnresolvedName && error.isAbsent) return []
        throw error
      }),
  }
}
