import ipaddr from "ipaddr.js"

/** Global unicast. Loopback, link-local, unique-local, multicast, IPv4-mapped and NAT64 addresses are outside this range. */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3")
/** A public address used by Azure's platform. */
const AZURE_PLATFORM = "168.63.129.16"

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Parses an IP address; undefined for other text, and for an address with a zone (fe80::1%eth0), which is an interface of this machine. */
const parse = (text: string): Address | undefined =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes("%"))
    ? ipaddr.parse(text)
    : undefined

// `range` knows the IANA special-purpose address registries (RFC 6890); `isPublicAddress.test.ts` tests each range.
const isPublic = (address: Address): boolean =>
  address.range() === "unicast" &&
  address.toString() !== AZURE_PLATFORM &&
  (address.kind() === "ipv4" || address.match(GLOBAL_IPV6))

/** Returns whether an IP address is public; false for other text, and for an address with a zone. */
export const isPublicAddress = (text: string): boolean => {
  const address = parse(text)
  return address !== undefined && isPublic(address)
}

/** Returns whether a URL's host may be public. IP addresses must be public. Names pass, because their addresses are checked after resolution. */
export const isPublicHost = ({ hostname }: URL): boolean => {
  const address = parse(hostname.replace(/^\[|\]$/g, ""))
  return address === undefined || isPublic(address)
}
