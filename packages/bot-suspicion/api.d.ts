/** Software that identifies itself in `User-Agent` and isn't a person's mail client. */
interface ScannerAgent {
    readonly name: string;
    readonly pattern: RegExp;
    /** True if people open messages with it, but don't click. */
    readonly clicksOnly?: true;
}
/** Networks of mail filters, in which nobody reads mail. */
interface ScannerNetwork {
    readonly name: string;
    readonly ranges: readonly string[];
}
/**
 * Scanners, link previewers and HTTP libraries by name.
 *
 * Excluded, because people read mail with them: Outlook itself (`Microsoft Outlook 16.0`, `ms-office`), image proxies (GoogleImageProxy,
 * YahooMailProxy), and okhttp, CFNetwork and Dalvik, which mail apps on phones use. Phones named CUBOT aren't bots.
 */
declare const AGENTS: readonly ScannerAgent[];
/** Networks of mail-filtering services. Cloud networks in general are excluded: people work in them. */
declare const NETWORKS: readonly ScannerNetwork[];
/** A page that documents scanners or publishes their networks. */
interface Source {
    readonly url: string;
    /** Date of the last check, such as `2026-11-21`. */
    readonly read: string;
    /** Names of the agents and networks that the page documents. */
    readonly entries: readonly string[];
}
/** Sources of each agent and network. A separate export, so that bundles without it stay small. */
declare const SOURCES: readonly Source[];

/** Header fields in any common form: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object. Names are case-insensitive. */
type HitHeaders = {
    forEach(each: (value: string, name: string) => void): void;
} | Iterable<readonly [string, string | readonly string[]]> | readonly string[] | Readonly<Record<string, string | readonly string[] | undefined>>;
/** A request for a message's pixel or one of its links. */
interface Hit {
    /** Time of the request in Unix seconds, fractions allowed. */
    readonly at: number;
    readonly method: string;
    /** Only `User-Agent` and the prefetch headers are used. */
    readonly headers: HitHeaders;
    /** The client's IPv4 or IPv6 address, if known. */
    readonly address?: string | undefined;
    /** The clicked link; undefined for the pixel. */
    readonly link?: string | undefined;
}
/** Facts about the message that the hit belongs to, and scanners that you know. */
interface Circumstances {
    /** Time at which the mailbox accepted the message, in Unix seconds, if known. */
    readonly acceptedAt?: number | undefined;
    /** Other hits of the same message; those of the last two seconds are sufficient. */
    readonly earlierHits?: readonly Pick<Hit, "at" | "link">[];
    /** More scanners, each by a part of its `User-Agent`, in upper or lower case: `["acme-scanner"]`. Default none. */
    readonly agents?: readonly string[];
}
/**
 * Reason for a suspicion.
 *
 * `scanner`: known user agent; `scanner_network`: the address belongs to a mail filter; `head`: HEAD request;
 * `prefetch`: prefetch header; `no_user_agent`: missing header; `too_early`: before, or less than one second
 * after, the mailbox accepted the message; `many_links`: three or more links within two seconds.
 */
type Reason = "scanner" | "scanner_network" | "head" | "prefetch" | "no_user_agent" | "too_early" | "many_links";
/** Whether a hit looks automated, with all reasons that apply. */
interface Suspicion {
    readonly suspected: boolean;
    readonly reasons: readonly Reason[];
}
/** Classifies one hit of a message. Throws `RangeError` unless `at` and `acceptedAt` are in Unix seconds (not milliseconds), and on an empty text in `agents`. */
declare function suspect(hit: Hit, { acceptedAt, earlierHits, agents }?: Circumstances): Suspicion;

export { AGENTS, NETWORKS, SOURCES, suspect };
export type { Circumstances, Hit, HitHeaders, Reason, ScannerAgent, ScannerNetwork, Source, Suspicion };
