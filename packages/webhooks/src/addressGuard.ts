import type { LookupAddress } from "node:dns"
import type { LookupFunction } from "node:net"
import { isPublicAddress } from "@outreach/domain/deliveries/isPublicAddress"

/** A name resolves to a forbidden address. */
export class BlockedAddress extends Error {
  override readonly name: string = "BlockedAddress"
  readonly code = "BLOCKED_ADDRESS"
}

/**
 * Creates a look-up function for sockets that rejects names with any non-public address, unless private addresses are allowed. The socket connects to the checked address.
 *
 * Fails with `BlockedAddress` or the errors of `find`. Sockets don't call it for literal addresses: check those separately.
 */
export const addressGuard =
  (
    find: (host: string) => Promise<ReadonlyArray<LookupAddress>>,
    { allowPrivateAddresses }: { readonly allowPrivateAddresses: boolean },
  ): LookupFunction =>
  (hostname, options, callback) => {
    find(hostname)
      .then((addresses) => {
        if (!allowPrivateAddresses) assertPublic(addresses)
        return addresses
      })
      .then(
        (addresses) =>
          options.all === true
            ? callback(null, [...addresses])
            : callback(null, addresses[0]!.address, addresses[0]!.family),
        (error) => callback(error, ""),
      )
  }

export const assertPublic = (addresses: ReadonlyArray<{ readonly address: string }>): void => {
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw new BlockedAddress()
}
