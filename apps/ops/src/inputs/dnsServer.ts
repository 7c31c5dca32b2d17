import { isIP } from "node:net"
import { textSchema } from "@outreach/domain/textSchema"
import { Flag } from "effect/cli"
import { parsedFlag } from "./parsedInput.ts"

/** The address of a name server, with or without a port. */
const DnsServer = textSchema(
  "an IP address, or one with a port such as 192.0.2.53:5353 or [2001:db8::53]:5353",
  (text) => {
    if (isIP(text) !== 0) return text
    const [, ipv4, ipv6, port] = /^(?:([\d.]+)|\[([0-9a-fA-F:.]+)\]):(\d{1,5})$/.exec(text) ?? []
    return isIP(ipv4 ?? ipv6 ?? "") !== 0 && Number(port) >= 1 && Number(port) <= 65_535 ? text : undefined
  },
)

/** `--dns-server`: the name server that is asked for DNS records. */
export const dnsServer = parsedFlag(
  "dns-server",
  DnsServer,
  "The name server to ask for DNS records, instead of this machine's",
).pipe(Flag.withMetavar("ip[:port]"), Flag.optional)
