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

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** Returns the bits of an IP address as digits: 32, or 128; undefined for a text that is not an IP address. */
const toBits = (address: string): string | undefined => {
  if (IPV4.test(address))
    return address
      .split(".")
      .map((byte) => digits(Number(byte), 8))
      .join("")
  // A URL has one spelling of each IPv6 address: groups in hexadecimal, with `::` for some that are zero.
  const host = /^[\da-f:.]+$/i.test(address) ? URL.parse(`http://[${address}]`)?.hostname : undefined
  if (host === undefined) return undefined
  const [before = [], after = []] = host
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")))
  const zeros = Array<string>(8 - before.length - after.length).fill("0")
  return [...before, ...zeros, ...after].map((group) => digits(Number.parseInt(group, 16), 16)).join("")
}

const digits = (value: number, length: number): string => value.toString(2).padStart(length, "0")

/** Creates the function that reports whether bits begin as those of some range do. */
const isIn = (ranges: ReadonlyArray<string>) => {
  const prefixes = ranges.map((range) => {
    const [network, length] = range.split("/")
    return toBits(network!)!.slice(0, Number(length))
  })
  return (bits: string): boolean => prefixes.some((prefix) => bits.startsWith(prefix))
}
const isForbiddenIPv4 = isIn(FORBIDDEN_IPV4)
const isGlobalIPv6 = isIn(GLOBAL_IPV6)
const isForbiddenIPv6 = isIn(FORBIDDEN_IPV6)

const isPublic = (bits: string): boolean =>
  bits.length === 32 ? !isForbiddenIPv4(bits) : isGlobalIPv6(bits) && !isForbiddenIPv6(bits)

/** Reports whether an IP address is a public one; false for a text that is not an IP address, and for an address with a zone. */
export const isPublicAddress = (address: string): boolean => {
  const bits = toBits(address)
  return bits !== undefined && isPublic(bits)
}

/** Reports whether a URL's host may be public. An IP address must be public. A name passes, because its address is checked once it is resolved. */
export const isPublicHost = ({ hostname }: URL): boolean => {
  const bits = toBits(hostname.replace(/^\[|\]$/g, ""))
  return bits === undefined || isPublic(bits)
}
