import { AGENTS, NETWORKS } from "./scanners.ts"

/** Header fields of any making: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object; names in any case. */
export type HitHeaders =
  // A `Headers` without lib DOM.Iterable.
  | { forEach(each: (value: string, name: string) => void): void }
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** A request for the pixel or a link of a message. */
export interface Hit {
  /** When it came, in Unix seconds, fractions allowed. */
  readonly at: number
  readonly method: string
  /** `User-Agent` and the fields of prefetching matter; all others may be left out. */
  readonly headers: HitHeaders
  /** The client's IPv4 or IPv6 address; left out when it is not known. */
  readonly address?: string | undefined
  /** The link that was followed; left out for the pixel. */
  readonly link?: string | undefined
}

/** What is known of the message that the hit belongs to. */
export interface Circumstances {
  /** When the mailbox accepted the message, in Unix seconds; left out when it is not known. */
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

const EARLY_SECONDS = 1
const BURST_SECONDS = 2
const MANY_LINKS = 3

// Sec-Purpose: the Fetch standard; Purpose: Chrome before it; X-Moz: Firefox before 115; X-Purpose: Safari.
const PREFETCH_HEADERS = ["sec-purpose", "purpose", "x-moz", "x-purpose"] as const
const PREFETCH = /prefetch|prerender|preview|instant/i

/** The year 5138: more is milliseconds by mistake. */
const MAX_SECONDS = 1e11

// In one expression: 1.0 µs for the name of Chrome, where one after another take 1.4.
const agents = new RegExp(AGENTS.map(({ pattern }) => pattern.source).join("|"), "i")
const networks = NETWORKS.flatMap(({ ranges }) => ranges.map(networkBits))

/** Judges one hit of a message. Throws `RangeError` when `at` or `acceptedAt` is not Unix seconds, as milliseconds are not. */
export function suspect(hit: Hit, { acceptedAt, earlierHits = [] }: Circumstances = {}): Suspicion {
  const { at, method, headers, address = "", link } = hit
  assertSeconds("at", at)
  if (acceptedAt !== undefined) assertSeconds("acceptedAt", acceptedAt)
  const bits = addressBits(address)
  const fields = fieldsOf(headers)
  const agent = fields.get("user-agent")?.trim() ?? ""
  const links = new Set(link === undefined ? [] : [link])
  for (const earlier of earlierHits) {
    if (earlier.link !== undefined && earlier.at <= at && at - earlier.at <= BURST_SECONDS) links.add(earlier.link)
  }

  const found: Readonly<Record<Reason, boolean>> = {
    scanner: agents.test(agent),
    scanner_network: networks.some((network) => bits.startsWith(network)),
    head: method.toUpperCase() === "HEAD",
    prefetch: PREFETCH_HEADERS.some((name) => PREFETCH.test(fields.get(name) ?? "")),
    no_user_agent: agent === "",
    too_early: acceptedAt !== undefined && at - acceptedAt < EARLY_SECONDS,
    many_links: link !== undefined && links.size >= MANY_LINKS,
  }
  const reasons = (Object.keys(found) as Reason[]).filter((reason) => found[reason])
  return { suspected: reasons.length > 0, reasons }
}

/** Returns header fields by their names in lower case. */
function fieldsOf(headers: HitHeaders): ReadonlyMap<string, string> {
  const given = headers as Iterable<unknown> & object
  // Name, value, name, value: as Node's rawHeaders are, and pairs once they are flattened.
  const flat = (given[Symbol.iterator] ? [...given] : Object.entries(given)).flat()
  const fields = new Map<string, string>()
  for (let i = 1; i < flat.length; i += 2) {
    if (flat[i] !== undefined) fields.set(String(flat[i - 1]).toLowerCase(), String(flat[i]))
  }
  return fields
}

function assertSeconds(name: string, value: number): void {
  if (!(Math.abs(value) < MAX_SECONDS))
    throw new RangeError(`${name} must be Unix seconds, not milliseconds: Date.now() / 1000`)
}

/** Returns the version of an IP address and its bits as text, such as `4` and 32 digits; empty when it is not an address. */
export function addressBits(address: string): string {
  const four = address.replace(/^::ffff:(?=\d+\.)/i, "").split(".", 5)
  if (four.length > 1) return four.length === 4 ? bits("4", four, /^\d{1,3}$/, 10, 8) : ""
  const [head = "", tail, more] = address.split("::", 3)
  const [left, right] = [head, tail].map((part) => (part ? part.split(":", 9) : [])) as [string[], string[]]
  const zeros = 8 - left.length - right.length
  if (more !== undefined || (tail === undefined ? zeros !== 0 : zeros < 1)) return ""
  return bits("6", [...left, ...Array<string>(zeros).fill("0"), ...right], /^[\da-f]{1,4}$/i, 16, 16)
}

/** Returns what the bits of all addresses of a network begin with, for one such as `192.0.2.0/24`. */
export function networkBits(range: string): string {
  const [start = "", size] = range.split("/")
  return addressBits(start).slice(0, 1 + Number(size))
}

function bits(version: string, groups: readonly string[], form: RegExp, radix: number, width: number): string {
  let found = version
  for (const group of groups) {
    const number = form.test(group) ? Number.parseInt(group, radix) : Number.NaN
    if (!(number < 2 ** width)) return ""
    found += number.toString(2).padStart(width, "0")
  }
  return found
}
