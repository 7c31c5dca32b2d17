import type { Resolver } from "node:dns/promises"
import type { SenderWithKeys } from "@outreach/domain/senders/Sender"
import { Console, Effect } from "effect"
import { linkDomainFindings } from "../doctor/linkDomainFindings.ts"
import { senderFindings } from "../doctor/mailFindings.ts"
import { formatCount, formatFinding, Output, refuse } from "../output/Output.ts"
import { linkTarget } from "./linkTarget.ts"

/** Looks up a sender's DNS records, and its link domain if there is one to check; prints what it found, and fails if something is missing or wrong. */
export const checkSender = Effect.fnUntraced(function* (
  sender: SenderWithKeys,
  resolver: Resolver,
  linkDomain: string | null = null,
) {
  const { json } = yield* Output
  const records = yield* senderFindings(resolver, sender)
  const checks =
    linkDomain === null
      ? records
      : [...records, ...(yield* linkDomainFindings(resolver, linkDomain, yield* linkTarget))]
  if (!json) {
    yield* Effect.forEach(checks, (finding) => Console.log(formatFinding("", finding)))
  }
  const count = checks.filter(({ status }) => status === "failed").length
  if (count > 0) {
    const sentence = `${formatCount(count, "check")} of ${checks.length} failed for ${sender.id}; nothing was changed.`
    return yield* refuse("SenderNotVerified", sentence, { senderId: sender.id, checks })
  }
  return checks
})
