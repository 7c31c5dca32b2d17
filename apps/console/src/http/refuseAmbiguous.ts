import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import type { HttpServerRequest } from "effect/http"
import { PageError } from "./PageError.ts"

/** Headers that decide who asks for what. Of several, a proxy and Node could take different ones. */
const ONCE = ["host", "authorization", "cookie", "origin", "content-type"]

/** Creates a check that returns why a request is refused before anything of it is believed; undefined for all others. */
export const refuseAmbiguous = (settings: {
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
 * Reports whether a `Host` can be that of this console. The name of another site can lead here as well, so that its scripts would read the answers
 * as their own; an IP address cannot be another's.
 */
const isOwnHost = (host: string, ownName: string): boolean => {
  const url = URL.parse(`http://${host}`)
  if (url === null || url.href !== `http://${url.host}/`) return false
  const { hostname } = url
  return hostname === ownName || hostname === "localhost" || isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0
}

const foreignHost = PageError.of(
  421,
  "Not this console",
  "The request was sent to a name that is not the console's. Open it at CONSOLE_URL, and set that to where it is reached. A proxy must pass Host on.",
)

const givenTwice = (header: string): PageError =>
  PageError.of(
    400,
    "Not a valid request",
    `The header ${header} was given more than once. A proxy must replace what it sets, not add to it.`,
  )

// Browsers read a backslash in a path as a slash, and leave out tabs and line breaks. In a query a backslash is itself.
const LOCAL_PATH = /^\/(?![/\\])[!->@-[\]-~]*(?:\?[!-~]*)?$/

/** Reports whether an address leads to a path of this console, because it begins with exactly one slash. */
export const isLocalPath = (address: string): boolean => LOCAL_PATH.test(address)
