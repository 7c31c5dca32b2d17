const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/

/**
 * Returns the network that one client controls, as a key: an IPv4 address, or the /64 of an IPv6 address, within which a client can
 * choose any address. Returns an empty string for other text.
 */
export function networkOf(address: string): string {
  // An IPv4 client of a server that listens on IPv6.
  const text = address.replace(/^::ffff:(?=[\d.]+$)/i, "")
  if (IPV4.test(text)) return text
  const [head, tail] = text.split("::").map((part) => (part === "" ? [] : part.split(":"))) as [string[], string[]?]
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0")
  const groups = [...head, ...zeros, ...(tail ?? [])]
  const network = groups.slice(0, 4)
  if (groups.length !== 8 || !network.every((group) => /^[\da-f]{1,4}$/i.test(group))) return ""
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")
}
