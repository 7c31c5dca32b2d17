import { Effect } from "effect"
import { expect, it } from "vitest"
import type { RecipientId } from "../../src/Identifier.ts"
import { Mailer, type MailOutcome } from "../../src/mail/Mailer.ts"
import type { MessageLease } from "../../src/mail/Message.ts"
import { sendMessage } from "../../src/mail/Outreach.ts"
import { Settlements } from "../../src/mail/Settlements.ts"

/** Sends a message that was deferred `attempt - 1` times. Returns the settlement. */
const settlementOf = async (outcome: MailOutcome, attempt = 1, unknownOutcomes = 0) => {
  const settled: Array<unknown> = []
  const lease = { recipientId: "rcp_1" as RecipientId, attempt, unknownOutcomes } as MessageLease
  const mailer = { send: (_: unknown, __: unknown, record: (outcome: MailOutcome) => unknown) => record(outcome) }
  await sendMessage(lease, Effect.never, { sending: {} as never, answered: Effect.void }).pipe(
    Effect.provideService(Mailer, mailer as never),
    Effect.provideService(Settlements, {
      settle: (_: unknown, settlement: unknown) => Effect.sync(() => settled.push(settlement) > 0),
    } as never),
    (effect) => Effect.runPromise(effect as Effect.Effect<unknown>),
  )
  return settled[0]
}

const unreachable = (failureClass: "rejected" | "relay_denied" | "slow"): MailOutcome => ({
  _tag: "Unreachable",
  failure: { class: failureClass, code: "421" },
})
const unknown: MailOutcome = { _tag: "Unknown", failure: { class: "slow", code: "." } }

it.each<[string, MailOutcome, attempt: number, attempts: number, delaySeconds: number]>([
  ["because the mailbox defers it", { _tag: "Deferred" }, 1, 1, 60],
  ["because the mailbox defers it again", { _tag: "Deferred" }, 4, 4, 3600],
  ["because the server greylists it", { _tag: "Deferred", greylistedSeconds: 300 }, 1, 1, 301],
  ["because the refusal is about the sender", { _tag: "Refused", status: "550 5.7.1" }, 1, 0, 3600],
  ["because the server is closing", unreachable("rejected"), 1, 0, 60],
  ["because the relay denies access", unreachable("relay_denied"), 3, 2, 60],
  ["because the server is slow", unreachable("slow"), 1, 0, 900],
  ["because its lease was too short", { _tag: "Late" }, 1, 0, 0],
])(
  "a message that was not sent waits %s, and only deferrals by the mailbox count",
  async (_, outcome, attempt, attempts, delaySeconds) => {
    expect(await settlementOf(outcome, attempt)).toEqual({
      ...{ state: "retry", attempts, delaySeconds },
      ...(outcome._tag === "Refused" && { refusedWith: outcome.status }),
      ...(outcome._tag === "Unreachable" && { failure: outcome.failure }),
    })
  },
)

it("a message without a response waits for hours, and is quarantined after three repetitions", async () => {
  const delays = [3600, 7200, 14_400, null]
  for (const [unknownOutcomes, delaySeconds] of delays.entries()) {
    const settlement = { state: "unknown", delaySeconds, failure: { class: "slow", code: "." } }
    expect(await settlementOf(unknown, 1, unknownOutcomes)).toEqual(settlement)
  }
})
