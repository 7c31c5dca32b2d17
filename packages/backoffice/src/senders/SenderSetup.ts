import type { Sender } from "@outreach/domain/senders/Sender"
import { createResolver, type RecordFinding, senderFindings } from "@outreach/mail/dnsFindings"
import { Context, Effect } from "effect"
import { type LinkTarget, linkDomainFindings } from "./linkDomainFindings.ts"

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
