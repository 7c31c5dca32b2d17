import type { LookupAddress } from "node:dns"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { askAddresses } from "./askName.ts"
import { boundedLookups } from "./boundedLookups.ts"

/** RFC 6761, 6.3: name servers aren't queried for these. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i
const LOOPBACK: ReadonlyArray<LookupAddress> = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
]

/**
 * Creates a resolver for names that partners control, the hosts of their endpoints, using the given name servers or this machine's.
 * It fails with `UnresolvedName`, or with `NameNotAsked` if there was no free slot.
 *
 * Never uses the thread pool, which resolves the operator's names: the database can be found however many partner names fail.
 */
export const partnerNames = (servers: ReadonlyArray<string>) => {
  const lookUp = boundedLookups()
  return async (host: string, organizationId: OrganizationId): Promise<ReadonlyArray<LookupAddress>> =>
    LOCALHOST.test(host) ? LOOPBACK : lookUp(host, organizationId, () => askAddresses(servers, host))
}
