/** Software that names itself in `User-Agent` and is not a mail client of a person. */
interface ScannerAgent {
    readonly name: string;
    readonly pattern: RegExp;
}
/** Addresses from which mail is filtered, and no mail is read. */
interface ScannerNetwork {
    readonly name: string;
    readonly ranges: readonly string[];
}
/**
 * Scanners, previewers and programs by their names.
 *
 * Not here, because a person reads the mail: Outlook itself (`Microsoft Outlook 16.0`, `ms-office`), image proxies (GoogleImageProxy,
 * YahooMailProxy), and okhttp, CFNetwork and Dalvik, with which mail apps of phones load images. Phones called CUBOT are no bots.
 */
declare const AGENTS: readonly ScannerAgent[];
/** Networks of services that filter mail. Clouds in general are not among them: people work in those too. */
declare const NETWORKS: readonly ScannerNetwork[];
/** A page that describes scanners, or publishes their networks. */
interface Source {
    readonly url: string;
    /** The day on which it was last read, such as `2026-11-21`. */
    readonly read: string;
    /** The names of the agents and networks that it describes. */
    readonly entries: readonly string[];
}
/** Where each agent and each network was found; apart from them, so that it weighs nothing where it is not used. */
declare const SOURCES: readonly Source[];

/** Header fields of any making: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object; names in any case. */
type HitHeaders = {
    forEach(each: (value: string, name: string) => void): void;
} | Iterable<readonly [string, string | readonly string[]]> | readonly string[] | Readonly<Record<string, string | readonly string[] | undefined>>;
/** A request for the pixel or a link of a message. */
interface Hit {
    /** When it came, in Unix seconds, fractions allowed. */
    readonly at: number;
    readonly method: string;
    /** `User-Agent` and the fields of prefetching matter; all others may be left out. */
    readonly headers: HitHeaders;
    /** The client's IPv4 or IPv6 address; left out when it is not known. */
    readonly address?: string | undefined;
    /** The link that was followed; left out for the pixel. */
    readonly link?: string | undefined;
}
/** What is known of the message that the hit belongs to. */
interface Circumstances {
    /** When the mailbox accepted the message, in Unix seconds; left out when it is not known. */
    readonly acceptedAt?: number | undefined;
    /** Other hits of the same message; those of the last two seconds are enough. */
    readonly earlierHits?: readonly Pick<Hit, "at" | "link">[];
}
/**
 * Why a hit is suspected.
 *
 * `scanner`: the user agent is a named one; `scanner_network`: the address belongs to a service that filters mail; `head`: the method;
 * `prefetch`: a header says that nobody has looked yet; `no_user_agent`: there is none; `too_early`: before, or under one second
 * after, the mailbox accepted the message; `many_links`: three or more links within two seconds.
 */
type Reason = "scanner" | "scanner_network" | "head" | "prefetch" | "no_user_agent" | "too_early" | "many_links";
/** Whether a hit looks like a machine's, and all reasons that apply. */
interface Suspicion {
    readonly suspected: boolean;
    readonly reasons: readonly Reason[];
}
/** Judges one hit of a message. Throws `RangeError` when `at` or `acceptedAt` is not Unix seconds, as milliseconds are not. */
declare function suspect(hit: Hit, { acceptedAt, earlierHits }?: Circumstances): Suspicion;

export { AGENTS, NETWORKS, SOURCES, suspect };
export type { Circumstances, Hit, HitHeaders, Reason, ScannerAgent, ScannerNetwork, Source, Suspicion };
