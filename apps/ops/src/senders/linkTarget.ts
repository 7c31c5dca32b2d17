import { isIP } from "node:net"
import { optionalPublicBaseUrl } from "@outreach/process/settings"
import { type Config, Effect } from "effect"
import { Target } from "../Target.ts"

export interface LinkTarget {
  readonly publicBaseUrl: string | null
  /** The host to which link domains lead. */
  readonly linkHost: string | null
}

/** Reads where links lead without a link domain; null where PUBLIC_BASE_URL is not set. */
export const linkTarget = Effect.gen(function* (): Effect.fn.Return<LinkTarget, Config.ConfigError, Target> {
  const publicBaseUrl = (yield* Target).sandboxUrl ?? (yield* optionalPublicBaseUrl)
  const host = publicBaseUrl === null ? "" : new URL(publicBaseUrl).hostname
  return { publicBaseUrl, linkHost: host === "" || isIP(host.replace(/^\[|\]$/g, "")) !== 0 ? null : host }
})
