import ipaddr from "ipaddr.js"

// Source: the IANA special-purpose address registries (RFC 6890), and one public address that Azure uses for its platform.
const FORBIDDEN_IPV4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // Azure's platform
  "169.254.0.0/16", // link-local, metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
] as const

// Only global unicast. Loopback, link-local, unique-local, multicast, IPv4-mapped and NAT64 addresses lie outside this range.
const GLOBAL_IPV6 = ["2000::/3"] as const
const FORBIDDEN_IPV6 = [
  "2001::/23", // protocol assignments, Teredo
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
] as const

const parseRanges = (ranges: ReadonlyArray<string>) => ranges.map((range) => ipaddr.parseCIDR(range))
const forbiddenIPv4 = parseRanges(FORBIDDEN_IPV4)
const globalIPv6 = parseRanges(GLOBAL_IPV6)
const forbiddenIPv6 = parseRanges(FORBIDDEN_IPV6)

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Parses an IP address; undefined for any other text, and for an address with a zone (fe80::1%eth0), which is an interface of this machine. */
const parse = (text: string): Address | undefined =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes("%"))
    ? ipaddr.parse(text)
    : undefined

const isPublic = (address: Address): boolean => {
  const isIn = (ranges: ReturnType<typeof parseRanges>) => ranges.some((range) => address.match(range))
  return address.kind() === "ipv4" ? !isIn(forbiddenIPv4) : isIn(globalIPv6) && !isIn(forbiddenIPv6)
}

/** Reports whether an IP address is a public one; false for a text that is not an IP address, and for an address with a zone. */
export const isPublicAddress = (text: string): boolean => {
  const address = parse(text)
  return address !== undefined && isPublic(address)
}

/** Reports whether a URL's host may be public. An IP address must be public. A name passes, because its address is checked once it is resolved. */
export const isPublicHost = ({ hostname }: URL): boolean => {
  const address = parse(hostname.replace(/^\[|\]$/g, ""))
  return address === undefined || isPublic(address)
}
