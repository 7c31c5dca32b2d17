import { isIP } from "node:net"
import { textSchema } from "@outreach/domain/textSchema"
import { setting } from "./setting.ts"

export const DnsServer = textSchema(
  "an IP address, or one with a port such as 192.0.2.53:5353 or [2001:db8::53]:5353",
  (text) => (isServer(text) ? text : undefined),
)

/** Comma-separated addresses of name servers; `system` means none. */
const DnsServers = textSchema<ReadonlyArray<string>>(
  "system, or addresses of name servers such as 192.0.2.1 or 192.0.2.1:5353, separated by commas",
  (text) => {
    if (text === "system") return []
    const servers = text.split(",").map((server) => server.trim())
    return servers.every(isServer) ? servers : undefined
  },
)

const isServer = (text: string): boolean => {
  const [, bracketed, ipv4, port = "53"] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  return isIP(bracketed ?? ipv4 ?? text) !== 0 && Number(port) >= 1 && Number(port) <= 65_535
}

export const dnsServers = setting("DNS_SERVERS", DnsServers, {
  default: "system",
  about:
    "name servers for endpoints and sender records; `system` uses `/etc/resolv.conf`. `/etc/hosts` and search domains are ignored, except for `localhost` ([decision 10](decisions/0010-partner-host-names-are-resolved-by-c-ares.md))",
})
