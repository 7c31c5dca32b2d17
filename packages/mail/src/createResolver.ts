import { Resolver } from "node:dns/promises"

/** Creates a resolver that asks these name servers; with none, those of this machine. */
export const createResolver = (servers: ReadonlyArray<string>): Resolver => {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}
