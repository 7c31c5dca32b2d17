import type { LookupAddress } from "node:dns"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { isIP, type LookupFunction, type Socket } from "node:net"
import { promisify } from "node:util"
import { networkFailure } from "@outreach/process/networkFailure"
import type { WebhookProxy } from "@outreach/process/webhookProxy"
import { Redacted } from "effect"
import { buildConnector } from "undici"
import { addressGuard } from "./addressGuard.ts"

/** Maximum number of an endpoint's addresses that are tried through the proxy. */
const MAX_ADDRESSES = 3

/** Either the forward proxy fails or rejects the call, and the endpoint isn't at fault, or the proxy can't connect to it. */
class ProxyError extends Error {
  override readonly name: string = "ProxyError"
  readonly code: "PROXY_FAILED" | "UNREACHABLE_BY_PROXY"
  readonly said: string
  constructor(code: ProxyError["code"], said: string) {
    super(said)
    this.code = code
    this.said = said
  }
}

/**
 * Creates the function that opens undici's connections to endpoints, directly or through the forward proxy. `lookup` resolves and checks names.
 *
 * The proxy is asked for a checked address, not for a name: a name could resolve to another address there. The certificate is checked for the name.
 */
export const createConnector = (
  lookup: LookupFunction,
  { connectMs, proxy }: { readonly connectMs: number; readonly proxy: WebhookProxy | null },
): buildConnector.connector => {
  const connectorBy = (lookup: LookupFunction) => buildConnector({ allowH2: false, timeout: connectMs, lookup })
  const direct = connectorBy(lookup)
  if (proxy === null) return direct
  const { hasHost, hasAddress } = proxy.except
  const tunnelTo = tunnelsOf(proxy.url)

  /** Opens a tunnel to one of a host's addresses; returns a connector if its calls are direct. */
  const open = async ({ hostname, port, protocol }: buildConnector.Options) => {
    if (hasHost(hostname)) return direct
    const family = isIP(hostname)
    const found = (
      family === 0 ? await promisify(lookup)(hostname, { all: true }) : [{ address: hostname, family }]
    ) as ReadonlyArray<LookupAddress>
    if (found.every(({ address }) => hasAddress(address))) {
      // The name isn't resolved again: its next addresses may not be exceptions.
      return connectorBy(addressGuard(async () => found, { allowPrivateAddresses: true }))
    }
    const signal = AbortSignal.timeout(connectMs)
    const [first, ...others] = found
      .slice(0, MAX_ADDRESSES)
      .map(({ address }) => (isIP(address) === 6 ? `[${address}]` : address))
      .map((host) => () => tunnelTo(`${host}:${port || (protocol === "https:" ? 443 : 80)}`, signal))
    return others.reduce(
      (opening, next) =>
        opening.catch((error: ProxyError) => {
          if (error.code === "PROXY_FAILED" || signal.aborted) throw error
          return next()
        }),
      first!(),
    )
  }

  return (options, callback) => {
    open(options).then(
      (opened) => {
        if (typeof opened === "function") opened(options, callback)
        else if (options.protocol === "https:") direct({ ...options, httpSocket: opened }, callback)
        else callback(null, opened)
      },
      (error) => callback(error, null),
    )
  }
}

/**
 * Creates the function that opens a tunnel to an address and port through a proxy.
 *
 * A 5xx, and a proxy that accepts the connection but doesn't respond in time, mean that it can't connect to the endpoint. Every other failure is
 * its own.
 */
const tunnelsOf = (proxy: Redacted.Redacted) => {
  const { protocol, hostname, port, username, password } = new URL(Redacted.value(proxy))
  const isTls = protocol === "https:"
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")
  const authorization = username + password === "" ? {} : { "Proxy-Authorization": `Basic ${credentials}` }
  const host = hostname.replace(/^\[|\]$/g, "")
  // By default, the name for TLS is that of the header Host.
  const servername = isIP(host) === 0 ? host : ""
  const target = { host, servername, port: port || (isTls ? 443 : 80), agent: false } as const

  return (authority: string, signal: AbortSignal) =>
    new Promise<Socket>((resolve, reject) => {
      let isConnected = false
      const headers = { Host: authority, ...authorization }
      const request = (isTls ? requestHttps : requestHttp)({
        ...target,
        method: "CONNECT",
        path: authority,
        headers,
        signal,
      })
      request.on("socket", (socket) => {
        socket.once(isTls ? "secureConnect" : "connect", () => {
          isConnected = true
        })
      })
      request.on("connect", ({ statusCode = 0 }, socket: Socket) => {
        if (statusCode >= 200 && statusCode < 300) return resolve(socket)
        socket.destroy()
        reject(new ProxyError(statusCode < 500 ? "PROXY_FAILED" : "UNREACHABLE_BY_PROXY", `status ${statusCode}`))
      })
      request.on("error", (error) => {
        if (signal.aborted && isConnected) return reject(new ProxyError("UNREACHABLE_BY_PROXY", "no response in time"))
        const said = signal.aborted ? "no connection in time" : networkFailure(error).replaceAll("_", " ")
        reject(new ProxyError("PROXY_FAILED", said))
      })
      request.end()
    })
}
