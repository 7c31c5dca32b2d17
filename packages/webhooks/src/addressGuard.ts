import { lookup } from "node:dns/promises"
import type { LookupFunction } from "node:net"
import { isPublicAddress } from "@outreach/domain/deliveries/isPublicAddress"

/** A name leads to an address that calls may not go to. */
export class BlockedAddress extends Error {
  override readonly name: string = "BlockedAddress"
  readonly code = "BLOCKED_ADDRESS"
}

const underWay = new Map<string, ReturnType<typeof resolve>>()

/**
 * Resolves a name for a socket, refusing it when any of its addresses is not public; the socket dials what was checked here.
 *
 * Fails with `BlockedAddress`, or as `dns.lookup` does. Sockets do not call it for a host that is an address: check that one apart.
 */
export const addressGuard: LookupFunction = (hostname, options, callback) => {
  // Node resolves two names at a time, so calls for the same name share one resolution: a dead name server holds one place, not sixteen.
  let resolution = underWay.get(hostname)
  if (resolution === undefined) {
    resolution = resolve(hostname).finally(() => underWay.delete(hostname))
    underWay.set(hostname, resolution)
  }
  resolution.then(
    (addresses) => {
      if (options.all === true) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    },
    (error) => callback(error, ""),
  )
}

const resolve = async (hostname: string) => {
  const addresses = await lookup(hostname, { all: true })
  assertPublic(addresses)
  return addresses
}

/** Throws `BlockedAddress` unless every address is public. */
export const assertPublic = (addresses: ReadonlyArray<{ readonly address: string }>): void => {
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw new BlockedAddress()
}
