import { type Endpoint, EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { failed, ok, warning } from "@outreach/domain/operators/Finding"
import { networkFailure } from "@outreach/process/networkFailure"
import type { WebhookProxy } from "@outreach/process/webhookProxy"
import { addressGuard } from "@outreach/webhooks/addressGuard"
import { createConnector } from "@outreach/webhooks/createConnector"
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
  proxy_failed:
    "The forward proxy of WEBHOOK_PROXY_URL fails or rejects the call: check its address, credentials and rules.",
  unreachable_by_proxy:
    "The forward proxy can't connect to it. If others fail, too, check the proxy; otherwise ask the partner.",
  connect_timeout: "It accepts no connection. Ask the partner whether a firewall is in the way.",
}
const DEFAULT_ADVICE = "Look at it with `ops endpoints test`."

const isEndpointUrl = Schema.is(EndpointUrl)

export interface Options {
  readonly allowPrivate: boolean
  /** Name servers to query; none for those of this machine. */
  readonly servers: ReadonlyArray<string>
  readonly proxy: WebhookProxy | null
  /** Time limit of connection and handshake. Default 5 s. */
  readonly connectMs?: number
}

/**
 * Resolves an endpoint's name, connects and makes the TLS handshake like a webhook, without a request.
 *
 * The finding identifies the endpoint by its id, because its URL may contain a secret. An unreachable endpoint makes the check fail.
 */
export const endpointFinding = Effect.fnUntraced(function* (
  { id, organizationId, url: text }: Pick<Endpoint, "id" | "organizationId"> & { readonly url: EndpointUrl },
  { allowPrivate, servers, proxy, connectMs = CONNECT_MS }: Options,
) {
  const unreachable = (reason: string, code = "") =>
    failed(`The endpoint ${id} cannot be reached: ${reason}${code && ` (${code})`}.`, ADVICE[reason] ?? DEFAULT_ADVICE)

  if (!allowPrivate && !isEndpointUrl(text)) return yield* Effect.fail(unreachable("blocked_address"))
  const names = partnerNames(servers)
  const lookup = addressGuard((host) => names(host, organizationId), { allowPrivateAddresses: allowPrivate })
  const expiresAt = yield* handshake(new URL(text), createConnector(lookup, { connectMs, proxy })).pipe(
    Effect.mapError(({ reason, code }) => unreachable(reason, code)),
    Effect.timeoutOrElse({ duration: connectMs, orElse: () => Effect.fail(unreachable("connect_timeout")) }),
  )
  const days = Math.floor((expiresAt - (yield* Clock.currentTimeMillis)) / 86_400_000)
  return days < MIN_DAYS_LEFT
    ? warning(`The certificate of the endpoint ${id} expires in ${days} days.`, "Ask the partner to renew it.")
    : ok(`The endpoint ${id} accepts connections.`)
})

/** Returns the code of Node, OpenSSL, the name server or the proxy, or an empty text. */
const codeOf = (error: unknown): string => {
  const { code, said = code } = (error ?? {}) as { readonly said?: unknown; readonly code?: unknown }
  return typeof said === "string" && /^[\w ]+$/.test(said) ? said : ""
}

/** Connects to a URL's host, with TLS for https. Returns the certificate's expiry in Unix milliseconds; never for http. */
const handshake = ({ protocol, host, hostname, port }: URL, connect: ReturnType<typeof createConnector>) =>
  Effect.callback<number, { readonly reason: string; readonly code: string }>((resume) => {
    connect({ protocol, host, hostname: hostname.replace(/^\[|\]$/g, ""), port }, (error, socket) => {
      if (error !== null) return resume(Effect.fail({ reason: networkFailure(error), code: codeOf(error) }))
      const isTls = "getPeerCertificate" in socket
      resume(Effect.succeed(isTls ? Date.parse(socket.getPeerCertificate().valid_to) : Number.POSITIVE_INFINITY))
      socket.destroy()
    })
  })
