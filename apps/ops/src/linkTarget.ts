import type { LinkTarget } from "@outreach/backoffice/senders/linkDomainFindings"
import { whereSet } from "@outreach/process/setting"
import { publicBaseUrl } from "@outreach/process/settings"
import { type Config, Effect } from "effect"
import { Target } from "./Target.ts"

/** Reads the target host of links without a link domain. */
export const linkTarget = Effect.gen(function* (): Effect.fn.Return<LinkTarget, Config.ConfigError, Target> {
  const { sandboxUrl, allowHttp: allowPrivateAddresses, secretsKey } = yield* Target
  const url = sandboxUrl ?? (yield* whereSet(publicBaseUrl))
  return { publicBaseUrl: url, allowPrivateAddresses, secretsKey }
})
