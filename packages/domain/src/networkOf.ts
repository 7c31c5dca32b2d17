import { keyOfAddress } from "@outreach/rate-limit"

/** Returns the network that one client controls: an IPv4 address or an IPv6 /64. Returns an empty string for other text, which a proxy may forward. */
export function networkOf(address: string): string {
  try {
    return keyOfAddress(address, { ipv6Prefix: 64 })
  } catch {
    return ""
  }
}
