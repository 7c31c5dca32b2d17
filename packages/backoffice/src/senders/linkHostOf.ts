import { isIP } from "node:net"

/** Returns the target host of link domains; null if PUBLIC_BASE_URL isn't set or has none. */
export const linkHostOf = (publicBaseUrl: string | null): string | null => {
  const host = publicBaseUrl === null ? "" : new URL(publicBaseUrl).hostname
  return host === "" || isIP(host.replace(/^\[|\]$/g, "")) !== 0 ? null : host
}
