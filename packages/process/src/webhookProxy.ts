import { noneOr, textSchema } from "@outreach/domain/textSchema"
import { Config, Redacted } from "effect"
import proxyAddr from "proxy-addr"
import { secretSetting, setting } from "./setting.ts"

/** The forward proxy of webhooks. */
export interface WebhookProxy {
  /** May contain credentials. */
  readonly url: Redacted.Redacted
  readonly except: ProxyExceptions
}

/** The destinations of direct calls. */
export interface ProxyExceptions {
  readonly hasHost: (host: string) => boolean
  readonly hasAddress: (address: string) => boolean
}

const Origin = textSchema(
  "none, or an http:// or https:// address without a path, such as http://user:password@proxy.acme.example:3128",
  (text) => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined
    // Escapes in the credentials are ASCII.
    const isOrigin = url.pathname === "/" && url.search === "" && url.hash === "" && !/%(?![0-7][\da-f])/i.test(text)
    return isOrigin ? Redacted.make(text, { label: "WEBHOOK_PROXY_URL" }) : undefined
  },
)

const proxyUrl = secretSetting("WEBHOOK_PROXY_URL", noneOr(Origin), {
  default: "none",
  about:
    "[forward proxy](deployment.md#a-forward-proxy-for-webhooks) through which webhooks are sent (`CONNECT`), for fixed source addresses. Can contain credentials",
})

const proxyExcept = setting(
  "WEBHOOK_PROXY_EXCEPT",
  textSchema<ProxyExceptions>(
    "none, or host names (with their subdomains), addresses and subnets, separated by commas",
    (text) => {
      const entries = text === "none" ? [] : text.toLowerCase().split(/ *, */)
      const isName = (entry: string) => /^(?:[a-z\d_-]+\.)*[a-z][a-z\d-]*$/.test(entry)
      const names = entries.filter(isName)
      try {
        const isListed = proxyAddr.compile(entries.filter((entry) => !isName(entry)))
        return {
          hasHost: (host) => names.some((name) => `.${host.replace(/\.$/, "")}`.endsWith(`.${name}`)),
          hasAddress: (address) => isListed(address, 0),
        }
      } catch {
        return undefined
      }
    },
  ),
  {
    default: "none",
    about: "endpoints that are called without `WEBHOOK_PROXY_URL`, such as `partner.example,10.0.0.0/8`",
  },
)

export const webhookProxy: Config.Config<WebhookProxy | null> = Config.map(
  Config.all({ url: proxyUrl, except: proxyExcept }),
  ({ url, except }) => url && { url, except },
)
