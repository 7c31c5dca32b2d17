/**
 * Returns the key of a client's address: an IPv4 address, also for an IPv4-mapped one, or the network of an IPv6 address, such as
 * `2001:db8:1:200::/56`. `ipv6Prefix` is the length of a client's network, 1 to 128 bits. Default 56: many providers assign a /56 to each customer.
 *
 * Throws `RangeError` unless it is an address without a port, and on other prefixes. A zone (`%eth0`) is ignored.
 */
export function keyOfAddress(
  address: string | null | undefined,
  { ipv6Prefix = 56 }: { readonly ipv6Prefix?: number | undefined } = {},
): string {
  if (!(Number.isInteger(ipv6Prefix) && ipv6Prefix >= 1 && ipv6Prefix <= 128))
    throw new RangeError("ipv6Prefix must be a whole number from 1 to 128")
  // The common case, without parsing: 0.1 instead of 3 µs.
  const ipv4 = IPV4.exec(`${address}`)
  if (ipv4) return ipv4[1]!
  const groups = groupsOf(`${address}`)
  if (groups.length !== 8 || !groups.every((group) => /^[\da-f]{1,4}$/i.test(group)))
    throw new RangeError("address is not an IPv4 or IPv6 address: pass it without a port, such as request.ip")
  const numbers = groups.map((group) => Number.parseInt(group, 16))
  const [high = 0, low = 0] = numbers.slice(6)
  if (numbers.slice(0, 6).join() === "0,0,0,0,0,65535") return [high >> 8, high & 255, low >> 8, low & 255].join(".")
  const network = numbers
    .slice(0, Math.ceil(ipv6Prefix / 16))
    .map((number, i) => (number & (0xffff << Math.max(0, 16 * (i + 1) - ipv6Prefix))).toString(16))
  return `${network.join(":")}${network.length < 8 ? "::" : ""}/${ipv6Prefix}`
}

/** Returns the eight groups of an IPv6 address. Returns another number of groups for other text. */
function groupsOf(address: string): string[] {
  const hex = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16)
  const text = address.replace(/%.+$/, "").replace(IPV4_TAIL, (_, a, b, c, d) => `:${hex(a, b)}:${hex(c, d)}`)
  const [head, tail, ...more] = text.split("::")
  const [left, right] = [head, tail].map((part) => (part ? part.split(":") : [])) as [string[], string[]]
  const zeros = 8 - left.length - right.length
  if (tail === undefined) return left
  return more.length > 0 || zeros < 1 ? [] : [...left, ...Array<string>(zeros).fill("0"), ...right]
}

const OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
const IPV4 = new RegExp(`^(?:::ffff:)?((?:${OCTET}\\.){3}${OCTET})$`, "i")
const IPV4_TAIL = new RegExp(`:${Array(4).fill(OCTET).join("\\.")}$`)
