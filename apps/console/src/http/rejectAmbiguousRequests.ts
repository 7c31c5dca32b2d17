import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import type { HttpServerRequest } from "effect/http"
import { PageError } from "./PageError.ts"

/** Headers that identify the requester and the target. A proxy and Node could choose different ones of several. */
const ONCE = ["host", "authorization", "cookie", "origin", "content-type"]

/** Creates a check that returns the reason to reject an ambiguous request, before any of its headers is used. */
export const rejectAmbiguousRequests = (settings: {
  readonly consoleUrl: string
  readonly proxyHeader: string | null
}): ((request: HttpServerRequest.HttpServerRequest) => PageError | undefined) => {
  const once = settings.proxyHeader === null ? ONCE : [...ONCE, settings.proxyHeader]
  const ownName = new URL(settings.consoleUrl).hostname
  return ({ source }) => {
    const { rawHeaders, headers, url = "" } = source as IncomingMessage
    const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
    const repeated = once.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
    if (repeated !== undefined) return givenTwice(repeated)
    if (!isOwnHost(headers.host ?? "", ownName)) return foreignHost
    return isLocalPath(url) ? undefined : PageError.notFound()
  }
}

/**
 * Reports whether a `Host` can belong to this console. Another site's name can resolve to it, and its scripts could then read the responses;
 * an IP address can't belong to another site.
 */
const isOwnHost = (host: string, ownName: string): boolean => {
  const url = URL.parse(`http://${host}`)
  if (url === null || url.href !== `http://${url.host}/`) return false
  const { hostname } = url
  return hostname === ownName || hostname === "localhost" || isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0
}

const foreignHost = PageError.of(
  421,
  "Wrong host",
  "The Host header doesn't match CONSOLE_URL. Open the console at CONSOLE_URL or correct the setting; a proxy must forward Host.",
)

const givenTwice = (header: string): PageError =>
  PageError.of(
    400,
    "Invalid request",
    `The request contains the header ${header} more than once. Configure the proxy to replace the header.`,
  )

// In a path, browsers read a backslash as a slash and skip tabs and line breaks. In a query they keep a backslash.
const LOCAL_PATH = /^\/(?![/\\])[!->@-[\]-~]*(?:\?[!-~]*)?$/

/** Reports whether a URL is a path of this console: it starts with exactly one slash. */
export const isLocalPath = (address: string): boolean => LOCAL_PATH.test(address)
