import { randomBytes } from "node:crypto"
import type { Resolver } from "node:dns/promises"
import { once } from "node:events"
import { request } from "node:https"
import { isIP } from "node:net"
import {
  isLinkDomainProof,
  LINK_DOMAIN_PROOF_PATH,
  linkBaseUrl,
  TrackingSeal,
} from "@outreach/domain/hits/TrackingLinks"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { failed, ok } from "@outreach/domain/operators/Finding"
import type { Sender } from "@outreach/domain/senders/Sender"
import { createResolver, lookUpAll, query, type RecordFinding, senderFindings } from "@outreach/mail/dnsFindings"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { networkFailure } from "@outreach/process/networkFailure"
import { addressGuard } from "@outreach/webhooks/addressGuard"
import { askAddresses } from "@outreach/webhooks/askName"
import { Context, Effect } from "effect"

/** The process's means to set up senders. */
export class SenderSetup extends Context.Service<
  SenderSetup,
  {
    /** The host of the deployment's own links; null if PUBLIC_BASE_URL has none. */
    readonly linkHost: string | null
    /** Looks up a sender's DNS records, and whether this deployment serves its link domain. */
    lookUp(sender: Sender, linkDomain: string | null, dnsServer?: string): Effect.Effect<ReadonlyArray<RecordFinding>>
  }
>()("backoffice/SenderSetup") {}

/** Looks up a sender's DNS records, and whether the target serves a link domain. */
export const lookUpSender = Effect.fnUntraced(function* (
  dnsServers: ReadonlyArray<string>,
  target: LinkTarget,
  sender: Sender,
  linkDomain: string | null,
) {
  const resolver = createResolver(dnsServers)
  const records = yield* senderFindings(resolver, sender)
  const links = linkDomain === null ? [] : yield* linkDomainFindings(resolver, linkDomain, target)
  return [...records, ...links]
})

/** Enough for a proxy that gets the certificate on the first request. */
const HTTPS_MS = 30_000
const MAX_PROOF_BYTES = 256
/** Maximum number of CNAME records to follow. */
const MAX_ALIASES = 8

/** The target host of links, and the means to request it. */
export interface LinkTarget {
  /** Null if PUBLIC_BASE_URL isn't set. */
  readonly publicBaseUrl: string | null
  readonly allowPrivateAddresses: boolean
  readonly secretsKey: Effect.Effect<KeyRing, unknown>
}

/** Returns the target host of link domains; null if PUBLIC_BASE_URL isn't set or has none. */
export const linkHostOf = (publicBaseUrl: string | null): string | null => {
  const host = publicBaseUrl === null ? "" : new URL(publicBaseUrl).hostname
  return host === "" || isIP(host.replace(/^\[|\]$/g, "")) !== 0 ? null : host
}

/** Checks whether a link domain leads to this deployment: by its CNAME record, and by a response over https that only this deployment can give. */
export const linkDomainFindings = (
  resolver: Resolver,
  domain: string,
  target: LinkTarget,
): Effect.Effect<ReadonlyArray<RecordFinding>> =>
  lookUpAll([
    [`CNAME ${domain}`, cnameFinding(resolver, domain, linkHostOf(target.publicBaseUrl))],
    [`https://${domain}`, httpsFinding(resolver, domain, target)],
  ])

const cnameFinding = Effect.fnUntraced(function* (resolver: Resolver, domain: string, linkHost: string | null) {
  if (linkHost === null) {
    return failed(
      "PUBLIC_BASE_URL has no host name for a CNAME record.",
      "Set it to the API's value, with a domain name.",
    )
  }
  const publish = `Publish the record "${domain}. IN CNAME ${linkHost}.", and no other record of this name.`
  const names: Array<string> = []
  for (let name: string | undefined = domain; name !== undefined && names.length <= MAX_ALIASES; ) {
    const [next]: ReadonlyArray<string> = (yield* query(name, () => resolver.resolveCname(name!))) ?? []
    name = next?.toLowerCase()
    if (name === linkHost) return ok(`The CNAME record of ${domain} points to ${linkHost}.`)
    if (name !== undefined) names.push(name)
  }
  const last = names.at(-1)
  return last === undefined
    ? failed(`${domain} has no CNAME record.`, publish)
    : failed(`The CNAME record of ${domain} points to ${last} instead of ${linkHost}.`, publish)
})

const httpsFinding = Effect.fnUntraced(function* (
  resolver: Resolver,
  domain: string,
  { publicBaseUrl, allowPrivateAddresses, secretsKey }: LinkTarget,
) {
  const keys = yield* Effect.mapError(secretsKey, () =>
    failed("The https response can't be checked without SECRETS_KEY.", "Set it to the API's value."),
  )
  const seal = yield* Effect.provide(TrackingSeal, NodeTrackingSeal(keys))
  const challenge = randomBytes(24).toString("base64url")
  const base = linkBaseUrl(domain, publicBaseUrl)
  const url = new URL(LINK_DOMAIN_PROOF_PATH + challenge, base)
  const { status, body } = yield* ask(resolver, url, allowPrivateAddresses).pipe(
    Effect.timeoutOrElse({ duration: HTTPS_MS, orElse: () => Effect.fail(failureOf({ code: "ETIMEDOUT" })) }),
    Effect.mapError(({ reason, code }) =>
      failed(`${base} doesn't respond: ${reason} (${code}).`, ADVICE[reason] ?? DEFAULT_ADVICE),
    ),
  )
  return status === 200 && isLinkDomainProof(seal, body, { domain, challenge })
    ? ok(`This deployment responds at ${base} with a valid certificate.`)
    : failed(`${base} doesn't reach this deployment: status ${status}.`, FOREIGN_ADVICE)
})

const DEFAULT_ADVICE = "Configure your proxy for this name (docs/deployment.md#domains-for-links), then run it again."
const ADVICE: Readonly<Record<string, string>> = {
  tls: `The certificate is not valid for this name, or the proxy got none. ${DEFAULT_ADVICE}`,
  unresolved_name: "Its name has no address. Publish the CNAME record, and wait until name servers have it.",
  blocked_address: "Its address isn't public, so no request was sent.",
}
const FOREIGN_ADVICE =
  "Your proxy must forward the name in the Host header. The API and this command need the same SECRETS_KEY."

const failureOf = (error: unknown) => ({
  reason: networkFailure(error),
  code: (error as NodeJS.ErrnoException).code ?? "unknown",
})

/** Sends one request over a connection with a valid certificate for the name, to public addresses only. Follows no redirects. */
const ask = (resolver: Resolver, url: URL, allowPrivateAddresses: boolean) =>
  Effect.tryPromise({
    try: async (signal) => {
      const find = (host: string) => askAddresses(resolver.getServers(), host)
      const lookup = addressGuard(async (host) => (await find(host)).records, { allowPrivateAddresses })
      const [response] = await once(request(url, { agent: false, lookup, signal }).end(), "response")
      let body = ""
      for await (const text of response.setEncoding("latin1")) {
        body += text
        if (body.length > MAX_PROOF_BYTES) break
      }
      return { status: response.statusCode as number, body }
    },
    catch: failureOf,
  })
