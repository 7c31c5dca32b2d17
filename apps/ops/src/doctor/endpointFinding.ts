import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net"
import { connect as connectTls, type TLSSocket } from "node:tls"
import { type Endpoint, EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { failed, ok, warning } from "@outreach/domain/operators/Finding"
import { networkFailure } from "@outreach/process/networkFailure"
import { assertPublic } from "@outreach/webhooks/addressGuard"
import { UnresolvedName } from "@outreach/webhooks/askName"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Clock, Effect, Schema } from "effect"

const CONNECT_MS = 5000
/** Renewals run well before. */
const MIN_DAYS_LEFT = 14

const ADVICE: Readonly<Record<string, string>> = {
  blocked_address: "Its address is not a public one, so no webhook is sent. Ask the partner for a public address.",
  unresolved_name:
    "Its name does not resolve. Ask the partner, or check the name servers of DNS_SERVERS, or of this machine.",
  refused: "Nothing listens there. Ask the partner.",
  reset: "The connection was reset. Ask the partner whether a firewall is in the way.",
  tls: "The TLS handshake failed: most often the certificate has expired, is for another name, or lacks its intermediate. Ask the partner.",
  connect_timeout: "It accepts no connection. Ask the partner whether a firewall is in the way.",
}
const DEFAULT_ADVICE = "Look at it with `ops endpoints test`."

const isEndpointUrl = Schema.is(EndpointUrl)

/**
 * Resolves an endpoint's name, connects and makes the TLS handshake like a webhook, without a request.
 *
 * The finding identifies the endpoint by its id, because its URL may contain a secret. An unreachable endpoint makes the check fail.
 */
export const endpointFinding = Effect.fnUntraced(function* (
  { id, organizationId, url: text }: Pick<Endpoint, "id" | "organizationId"> & { readonly url: EndpointUrl },
  {
    allowPrivate,
    servers,
    connectMs = CONNECT_MS,
  }: {
    readonly allowPrivate: boolean
    /** Name servers to query; none for those of this machine. */
    readonly servers: ReadonlyArray<string>
    /** Time limit of connection and handshake. Default 5 s. */
    readonly connectMs?: number
  },
) {
  const url = new URL(text)
  const unreachable = (reason: string, code = "") =>
    failed(`The endpoint ${id} cannot be reached: ${reason}${code && ` (${code})`}.`, ADVICE[reason] ?? DEFAULT_ADVICE)
  const explain = (error: unknown) => unreachable(networkFailure(error), codeOf(error))

  if (!allowPrivate && !isEndpointUrl(text)) return yield* Effect.fail(unreachable("blocked_address"))
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const addresses =
    isIP(host) === 0
      ? yield* Effect.tryPromise({ try: () => partnerNames(servers).addresses(host, organizationId), catch: explain })
      : [{ address: host, family: isIP(host) }]
  if (!allowPrivate) yield* Effect.try({ try: () => assertPublic(addresses), catch: explain })
  const expiresAt = yield* handshake(url, addresses).pipe(
    Effect.mapError(explain),
    Effect.timeoutOrElse({ duration: connectMs, orElse: () => Effect.fail(unreachable("connect_timeout")) }),
  )
  const days = Math.floor((expiresAt - (yield* Clock.currentTimeMillis)) / 86_400_000)
  return days < MIN_DAYS_LEFT
    ? warning(`The certificate of the endpoint ${id} expires in ${days} days.`, "Ask the partner to renew it.")
    : ok(`The endpoint ${id} accepts connections.`)
})

/** Returns the code of Node, OpenSSL or the name server, or an empty text. */
const codeOf = (error: unknown): string => {
  const code = error instanceof UnresolvedName ? error.said : (error as { readonly code?: unknown } | null)?.code
  return typeof code === "string" && /^[\w ]+$/.test(code) ? code : ""
}

/** Connects to the addresses in turn, with TLS for https. Returns the certificate's expiry in Unix milliseconds; never for http. */
const handshake = (url: URL, addresses: ReadonlyArray<{ readonly address: string; readonly family: number }>) =>
  Effect.callback<number, Error>((resume) => {
    const host = url.hostname.replace(/^\[|\]$/g, "")
    // The checked addresses are the dialled ones.
    const lookup: LookupFunction = (_, options, done) =>
      options.all === true ? done(null, [...addresses]) : done(null, addresses[0]!.address, addresses[0]!.family)
    const target = { host, port: Number(url.port) || (url.protocol === "https:" ? 443 : 80), lookup }
    const isTls = url.protocol === "https:"
    const socket: Socket | TLSSocket = isTls
      ? connectTls({ ...target, ALPNProtocols: ["http/1.1"], ...(isIP(host) === 0 && { servername: host }) })
      : connectTcp(target)
    socket.once("error", (error) => resume(Effect.fail(error)))
    socket.once(isTls ? "secureConnect" : "connect", () => {
      const until = isTls ? Date.parse((socket as TLSSocket).getPeerCertificate().valid_to) : Number.NaN
      socket.end()
      resume(Effect.succeed(Number.isNaN(until) ? Number.POSITIVE_INFINITY : until))
    })
    return Effect.sync(() => socket.destroy())
  })
