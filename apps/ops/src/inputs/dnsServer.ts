import { DnsServer } from "@outreach/process/dnsServers"
import { Flag } from "effect/cli"
import { parsedFlag } from "./parsedInput.ts"

/** `--dns-server`: the name server that is asked for DNS records. */
export const dnsServer = parsedFlag(
  "dns-server",
  DnsServer,
  "The name server to ask for DNS records, instead of this machine's",
).pipe(Flag.withMetavar("ip[:port]"), Flag.optional)
