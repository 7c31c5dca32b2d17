import { Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import { textSchema } from "@outreach/domain/textSchema"

const SERVER = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?|(.*))$/

/** Name servers by their addresses, or `system`, which is null. */
export const DnsServers = textSchema<{ readonly servers: ReadonlyArray<string> | null }>(
  "system, or addresses of name servers such as 192.0.2.1 or 192.0.2.1:5353, separated by commas",
  (text) => {
    if (text === "system") return { servers: null }
    const servers = text.split(",").map((server) => server.trim())
    const areAddresses = servers.every((server) => {
      const [, bracketed, plain, other] = SERVER.exec(server)!
      return isIP(bracketed ?? plain ?? other ?? "") > 0
    })
    return areAddresses ? { servers } : undefined
  },
)

/** Creates a resolver that asks these name servers. */
export const createResolver = ({ servers }: typeof DnsServers.Type): Resolver => {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  if (servers !== null) resolver.setServers(servers)
  return resolver
}
