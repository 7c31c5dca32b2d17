import { Resolver } from "node:dns/promises"

/** Creates a resolver that uses these name servers, or the machine's if the list is empty. */
export const createResolver = (servers: ReadonlyArray<string>): Resolver => {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}
