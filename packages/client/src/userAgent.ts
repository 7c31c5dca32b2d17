/** The version of this package, set by its build. */
declare const CLIENT_VERSION: string | undefined

/** Returns the `User-Agent` of a client: its own name and version, the runtime's, and what the caller adds. */
export function userAgent(addition: string | undefined): string {
  if (addition !== undefined && !/^[\x20-\x7e]+$/.test(addition)) {
    throw new TypeError("userAgent must be printable ASCII characters, such as acme-poller/1.2")
  }
  const version = typeof CLIENT_VERSION === "undefined" ? "0.0.0" : CLIENT_VERSION
  // `Node.js/24`, `Deno/2.5`, `Bun/1.3`, `Cloudflare-Workers`; Node 20 and older have no navigator.
  const runtime =
    globalThis.navigator?.userAgent ?? `Node.js/${Number.parseInt(globalThis.process?.versions?.node, 10)}`
  return [`outreach-client/${version}`, runtime, addition].filter((part) => part !== undefined).join(" ")
}
