import type { LookupAddress } from "node:dns"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { askAddresses } from "./askName.ts"
import { boundedLookups } from "./boundedLookups.ts"

/** Resolver for names that partners control: the hosts of their endpoints. */
export interface PartnerNames {
  /** Resolves a host. Fails with `UnresolvedName`, or with `NameNotAsked` if there was no free slot. */
  readonly addresses: (host: string, organizationId: OrganizationId) => Promise<ReadonlyArray<LookupAddress>>
}

/** RFC 6761, 6.3: name servers aren't queried for these. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i
const LOOPBACK: ReadonlyArray<LookupAddress> = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
]

/**
 * Creates a resolver for names that partners control, using the given name servers or this machine's.
 *
 * Never uses the thread pool, which resolves the operator's names: the database can be found however many partner names fail.
 */
export const partnerNames = (servers: ReadonlyArray<string>): PartnerNames => {
  const lookUp = boundedLookups()
  return {
    addresses: async (host, organizationId) =>
      LOCALHOST.test(host) ? LOOPBACK : lookUp(host, organizationId, () => askAddresses(servers, host)),
  }
}
