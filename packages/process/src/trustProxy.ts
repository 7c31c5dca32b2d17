import type { IncomingMessage } from "node:http"
import { textSchema } from "@outreach/domain/textSchema"
import proxyAddr from "proxy-addr"
import { setting } from "./setting.ts"

/** Reports whether the address at a hop, counted from 0 for the peer of the connection, is a proxy that is believed. */
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
    about:
      "trusted proxies, whose `X-Forwarded-For` header is believed. Behind any other proxy, every hit on a link seems to come from the proxy",
  },
)

/** Returns the address of a request's client, past the proxies that are believed; empty if the client has gone. */
export const clientAddress = (request: IncomingMessage, trusts: TrustProxy): string =>
  // It returns none then, whatever the types say.
  proxyAddr(request, trusts) ?? ""
