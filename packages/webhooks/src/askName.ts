import type { LookupAddress } from "node:dns"
import { Resolver } from "node:dns/promises"

/** Time limit of a query, including retries. */
const QUESTION_MS = 2000
/** Wait before a query is retried. */
const REPEAT_MS = 700
/** How long addresses of one family wait for the other. */
const OTHER_FAMILY_MS = 250
/** Maximum number of records used. */
const MAX_RECORDS = 16

/** A name server's answer and its lifetime in seconds. */
export interface NameAnswer {
  readonly records: ReadonlyArray<LookupAddress>
  readonly ttlSeconds: number
}

/** Names of c-ares codes that are answers; all other codes mean that there was no answer. */
const SAID: Readonly<Record<string, string>> = {
  ENODATA: "no such record",
  ENOTFOUND: "NXDOMAIN",
  ESERVFAIL: "SERVFAIL",
  EREFUSED: "REFUSED",
  EFORMERR: "FORMERR",
  ENOTIMP: "NOTIMP",
  EBADRESP: "malformed answer",
  EBADNAME: "not a valid name",
}

export class UnresolvedName extends Error {
  override readonly name: string = "UnresolvedName"
  readonly code = "UNRESOLVED_NAME"
  /** The name server's result, such as `SERVFAIL`, or `no answer`. */
  readonly said: string
  constructor(error: unknown) {
    const said = SAID[String((error as { readonly code?: unknown }).code)] ?? "no answer"
    super(said)
    this.said = said
  }
}

/**
 * Queries name servers for the addresses of a name, IPv4 first. An empty list means this machine's, as currently listed in `resolv.conf`.
 *
 * Fails with `UnresolvedName`. One family is sufficient; the other is awaited briefly.
 */
export const askAddresses = (servers: ReadonlyArray<string>, name: string): Promise<NameAnswer> =>
  ask(servers, async (resolver) => {
    const families = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })].map(
      async (family) => {
        const records = await family
        // An alias without a target.
        if (records.length === 0) throw Object.assign(new Error(), { code: "ENODATA" })
        return records
      },
    )
    let hurry: NodeJS.Timeout | undefined
    for (const family of families) {
      family.then(
        () => {
          hurry ??= setTimeout(() => resolver.cancel(), OTHER_FAMILY_MS)
        },
        () => {},
      )
    }
    const [ipv4, ipv6] = await Promise.allSettled(families)
    clearTimeout(hurry)
    const found = [ipv4!, ipv6!].flatMap((each, i) =>
      each.status === "fulfilled" ? each.value.map((record) => ({ ...record, family: i === 0 ? 4 : 6 })) : [],
    )
    if (found.length === 0) {
      const [error, other] = [ipv4, ipv6].map((each) => (each as PromiseRejectedResult).reason)
      // Distinguishes a name without any address from one with a failed family.
      throw error.code === "ENODATA" ? other : error
    }
    return {
      records: found.slice(0, MAX_RECORDS).map(({ address, family }) => ({ address, family })),
      ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
    }
  })

/** A separate resolver for each query can be cancelled, uses a new port, and reads `resolv.conf` again. */
const ask = async (
  servers: ReadonlyArray<string>,
  question: (resolver: Resolver) => Promise<NameAnswer>,
): Promise<NameAnswer> => {
  const resolver = new Resolver({ timeout: REPEAT_MS, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  const deadline = setTimeout(() => resolver.cancel(), QUESTION_MS)
  try {
    return await question(resolver)
  } catch (error) {
    throw new UnresolvedName(error)
  } finally {
    clearTimeout(deadline)
  }
}
