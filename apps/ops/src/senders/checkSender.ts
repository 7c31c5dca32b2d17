import type { Resolver } from "node:dns/promises"
import type { SenderWithKeys } from "@outreach/domain/senders/Sender"
import { Console, Effect } from "effect"
import { senderFindings } from "../doctor/mailFindings.ts"
import { formatCount, formatFinding, Output, refuse } from "../output/Output.ts"

/** Looks up a sender's DNS records, prints what it found, and fails if one is missing or wrong. */
export const checkSender = Effect.fnUntraced(function* (sender: SenderWithKeys, resolver: Resolver) {
  const { json } = yield* Output
  const checks = yield* senderFindings(resolver, sender)
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
