import type { IncomingMessage } from "node:http"
import { textSchema } from "@outreach/domain/textSchema"
import proxyAddr from "proxy-addr"
import { setting } from "./setting.ts"

/** Returns whether the address at a hop (0 is the connection's peer) is a trusted proxy. */
export type TrustProxy = (address: string, hop: number) => boolean

export const trustProxy = setting(
  "TRUST_PROXY",
  textSchema<TrustProxy>(
    "proxies' addresses or subnets with commas between them; loopback, linklocal and uniquelocal name some",
    (text) => {
      try {
        return proxyAddr.compile(text === "none" ? [] : text.split(/ *, */))
      } catch {
        return undefined
      }
    },
  ),
  {
    default: "none",
    isAdvised: true,
    about: "proxies whose `X-Forwarded-For` is trusted. Without it, requests seem to come from the proxy",
  },
)

/** Returns the client address of a request, beyond trusted proxies; empty if the client disconnected. */
export const clientAddress = (request: IncomingMessage, trusts: TrustProxy): string =>
  // It returns undefined then, contrary to its types.
  proxyAddr(request, trusts) ?? ""
