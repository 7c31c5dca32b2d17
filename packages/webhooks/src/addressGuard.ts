import type { LookupAddress } from "node:dns"
import type { LookupFunction } from "node:net"
import { isPublicAddress } from "@outreach/domain/deliveries/isPublicAddress"

/** A name leads to an address that calls may not go to. */
export class BlockedAddress extends Error {
  override readonly name: string = "BlockedAddress"
  readonly code = "BLOCKED_ADDRESS"
}

/**
 * Creates what resolves a name for a socket, refusing it when any of its addresses is not public, unless they may be private; the socket dials what was checked here.
 *
 * It fails with `BlockedAddress`, or as `find` does. Sockets do not call it for a host that is an address: check that one apart.
 */
export const addressGuard =
  (
    find: (host: string) => Promise<ReadonlyArray<LookupAddress>>,
    { allowPrivateAddresses }: { readonly allowPrivateAddresses: boolean },
  ): LookupFunction =>
  (hostname, options, callback) => {
    const checked = find(hostname).then((addresses) => {
      if (!allowPrivateAddresses) assertPublic(addresses)
      return [...addresses]
    })
    checked.then(
      (addresses) => {
        if (options.all === true) callback(null, addresses)
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      (error) => callback(error, ""),
    )
  }

export const assertPublic = (addresses: ReadonlyArray<{ readonly address: string }>): void => {
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw new BlockedAddress()
}
