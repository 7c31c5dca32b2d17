import type { LookupAddress } from "node:dns"
import { Resolver } from "node:dns/promises"

/** How long a question may take with its repetitions. */
const QUESTION_MS = 2000
/** After how long a question is repeated. */
const REPEAT_MS = 700
/** How long the addresses of one family wait for those of the other. */
const OTHER_FAMILY_MS = 250
/** How many records of an answer are kept. */
const MAX_RECORDS = 16

/** What a name server said about a name, and for how many seconds it may be kept. */
export interface NameAnswer {
  readonly records: ReadonlyArray<LookupAddress>
  readonly ttlSeconds: number
}

/** The name server's words for c-ares's codes; all others mean that no answer came. */
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
  /** What the name server said, such as `SERVFAIL`, or `no answer`. */
  readonly said: string
  constructor(error: unknown) {
    const said = SAID[String((error as { readonly code?: unknown }).code)] ?? "no answer"
    super(said)
    this.said = said
  }
}

/**
 * Asks name servers for the addresses of a name, IPv4 first; none are those of this machine, as `resolv.conf` names them now.
 *
 * Fails with `UnresolvedName`. One family is enough: the other is waited for briefly.
 */
export const askAddresses = (servers: ReadonlyArray<string>, name: string): Promise<NameAnswer> =>
  ask(servers, async (resolver) => {
    const families = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })].map(
      async (family) => {
        const records = await family
        // An alias that leads nowhere.
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
      // A name with addresses of neither family is told apart from one whose other family failed.
      throw error.code === "ENODATA" ? other : error
    }
    return {
      records: found.slice(0, MAX_RECORDS).map(({ address, family }) => ({ address, family })),
      ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
    }
  })

/** A resolver of its own for each question can be cancelled, asks from a new port, and reads `resolv.conf` again. */
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
