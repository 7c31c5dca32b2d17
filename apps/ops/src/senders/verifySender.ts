import type { Resolver } from "node:dns/promises"
import type { SenderWithKeys } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Console, Effect, Schema } from "effect"
import { senderFindings } from "../doctor/mailFindings.ts"
import { formatCell, formatCount } from "../output/format.ts"
import { Output } from "../output/Output.ts"

/** DNS records of a sender are missing or wrong. */
class SenderNotVerified extends Schema.TaggedError<SenderNotVerified>()("SenderNotVerified", {
  senderId: Schema.String,
  checks: Schema.Array(
    Schema.Struct({ status: Schema.String, found: Schema.String, advice: Schema.NullOr(Schema.String) }),
  ),
}) {
  override get message(): string {
    const count = this.checks.filter(({ status }) => status === "failed").length
    return `${formatCount(count, "check")} of ${this.checks.length} failed for ${this.senderId}; nothing was changed.`
  }
}

/** Looks up a sender's DNS records, prints what it found, and fails if one is missing or wrong. */
export const checkSender = Effect.fnUntraced(function* (sender: SenderWithKeys, resolver: Resolver) {
  const { json } = yield* Output
  const checks = yield* senderFindings(resolver, sender)
  if (!json) {
    yield* Effect.forEach(checks, ({ status, found, advice }) =>
      Console.log(formatCell(`${status.padEnd(7)}  ${found}${advice === null ? "" : ` ${advice}`}`)),
    )
  }
  if (checks.some(({ status }) => status === "failed")) {
    return yield* new SenderNotVerified({ senderId: sender.id, checks: [...checks] })
  }
  return checks
})

/** Checks a sender. If nothing failed, its newest key signs, and the sender is live. */
export const verifySender = Effect.fnUntraced(function* (sender: SenderWithKeys, resolver: Resolver) {
  const checks = yield* checkSender(sender, resolver)
  return { checks, sender: yield* (yield* SenderRepository).activate(sender.id) }
})
