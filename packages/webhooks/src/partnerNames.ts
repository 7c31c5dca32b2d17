import type { LookupAddress } from "node:dns"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { askAddresses } from "./askName.ts"
import { boundedLookups } from "./boundedLookups.ts"

/** Names that partners control: the hosts of their endpoints. */
export interface PartnerNames {
  /** Finds the addresses of a host. Fails with `UnresolvedName`, or with `NameNotAsked` when it had no turn. */
  readonly addresses: (host: string, organizationId: OrganizationId) => Promise<ReadonlyArray<LookupAddress>>
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
      LOCALHOST.test(host) ? LOOPBACK : lookUp(host, organizationId, () => askAddresses(servers, host)),
  }
}
