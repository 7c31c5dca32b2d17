import { parseNetwork } from "./parseNetwork.ts"
import { AGENTS, NETWORKS } from "./scanners.ts"

/** A request for the pixel or a link of a message. */
export interface Hit {
  /** When it came, in Unix milliseconds. */
  readonly at: number
  readonly method: string
  /** Header fields by their names in lower case; those that say nothing here may be left out. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The client's IPv4 or IPv6 address; left out when it is not known. */
  readonly address?: string | undefined
  /** The link that was followed; left out for the pixel. */
  readonly link?: string | undefined
}

/** What is known of the message that the hit belongs to. */
export interface Circumstances {
  /** When the mailbox accepted the message, in Unix milliseconds; left out when it is not known. */
  readonly acceptedAt?: number | undefined
  /** Other hits of the same message; those of the last two seconds are enough. */
  readonly earlierHits?: readonly Pick<Hit, "at" | "link">[]
}

/**
 * Why a hit is suspected.
 *
 * `scanner`: the user agent is a named one; `scanner_network`: the address belongs to a service that filters mail; `head`: the method;
 * `prefetch`: a header says that nobody has looked yet; `no_user_agent`: there is none; `too_early`: before, or under one second
 * after, the mailbox accepted the message; `many_links`: three or more links within two seconds.
 */
export type Reason = "scanner" | "scanner_network" | "head" | "prefetch" | "no_user_agent" | "too_early" | "many_links"

/** Whether a hit looks like a machine's, and all reasons that apply. */
export interface Suspicion {
  readonly suspected: boolean
  readonly reasons: readonly Reason[]
}

const EARLY_MS = 1000
const BURST_MS = 2000
const MANY_LINKS = 3

// Sec-Purpose: the Fetch standard; Purpose: Chrome before it; X-Moz: Firefox before 115; X-Purpose: Safari.
const PREFETCH_HEADERS = ["sec-purpose", "purpose", "x-moz", "x-purpose"] as const
const PREFETCH = /prefetch|prerender|preview|instant/i

const networks = NETWORKS.flatMap(({ ranges }) => ranges.map(parseNetwork))

/** Judges one hit of a message. */
export function suspect(hit: Hit, { acceptedAt, earlierHits = [] }: Circumstances = {}): Suspicion {
  const { at, method, headers, address, link } = hit
  const agent = headers["user-agent"]?.trim() ?? ""
  const links = new Set(link === undefined ? [] : [link])
  for (const earlier of earlierHits) {
    if (earlier.link !== undefined && earlier.at <= at && at - earlier.at <= BURST_MS) links.add(earlier.link)
  }

  const found: Readonly<Record<Reason, boolean>> = {
    scanner: AGENTS.some(({ pattern }) => pattern.test(agent)),
    scanner_network: address !== undefined && networks.some((contains) => contains(address)),
    head: method.toUpperCase() === "HEAD",
    prefetch: PREFETCH_HEADERS.some((name) => PREFETCH.test(headers[name] ?? "")),
    no_user_agent: agent === "",
    too_early: acceptedAt !== undefined && at - acceptedAt < EARLY_MS,
    many_links: link !== undefined && links.size >= MANY_LINKS,
  }
  const reasons = (Object.keys(found) as Reason[]).filter((reason) => found[reason])
  return { suspected: reasons.length > 0, reasons }
}
