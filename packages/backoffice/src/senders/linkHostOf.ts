import { isIP } from "node:net"

/** Returns the host to which link domains lead; null where PUBLIC_BASE_URL is not set or names none. */
export const linkHostOf = (publicBaseUrl: string | null): string | null => {
  const host = publicBaseUrl === null ? "" : new URL(publicBaseUrl).hostname
  return host === "" || isIP(host.replace(/^\[|\]$/g, "")) !== 0 ? null : host
}
