import { linkDomainFindings } from "@outreach/backoffice/senders/linkDomainFindings"
import type { SenderWithKeys } from "@outreach/domain/senders/Sender"
import { createResolver } from "@outreach/mail/createResolver"
import { senderFindings } from "@outreach/mail/dnsFindings"
import { Console, Effect } from "effect"
import { formatFinding, Output } from "../output/Output.ts"
import { linkTarget } from "./linkTarget.ts"

/** Creates the look-up of a sender's DNS records, and of its link domain if there is one to check, which prints the results. */
export const checkSender = (dnsServer: string | undefined) =>
  Effect.fnUntraced(function* (sender: SenderWithKeys, linkDomain: string | null) {
    const resolver = createResolver(dnsServer === undefined ? [] : [dnsServer])
    const records = yield* senderFindings(resolver, sender)
    const links = linkDomain === null ? [] : yield* linkDomainFindings(resolver, linkDomain, yield* linkTarget)
    const checks = [...records, ...links]
    if ((yield* Output) === "table") {
      yield* Effect.forEach(checks, (finding) => Console.log(formatFinding("", finding)))
    }
    return checks
  })
