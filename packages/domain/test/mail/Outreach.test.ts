import { Deferred, Effect, Fiber } from "effect"
import { SecureRandom } from "effect/crypto"
import { expect, it } from "vitest"
import type { RecipientId } from "../../src/Identifier.ts"
import type { MessageLease } from "../../src/mail/Message.ts"
import { sendMessage } from "../../src/mail/Outreach.ts"
import { Settlements } from "../../src/mail/Settlements.ts"
import { type MailOutcome, Transport } from "../../src/mail/Transport.ts"

const lease = (attempt: number, unknownOutcomes: number) =>
  ({ recipientId: "rcp_1" as RecipientId, attempt, unknownOutcomes }) as MessageLease

/** Sends a message, and adds its settlement to `settled`. */
const send = (lease: MessageLease, settled: Array<unknown>) => {
  const composed = { envelope: { from: "a@acme.test", to: "b@acme.test" }, message: new Uint8Array() }
  const options = { release: Effect.void, isHeld: () => true }
  return sendMessage(lease, Effect.succeed(composed), options).pipe(
    Effect.provideService(Settlements, {
      settle: (_: unknown, settlement: unknown) => Effect.sync(() => settled.push(settlement) > 0),
    } as never),
    Effect.provide(SecureRandom.layerWebCrypto),
  )
}

/** Sends a message that was deferred `attempt - 1` times. Returns the settlement. */
const settlementOf = async (outcome: MailOutcome, attempt = 1, unknownOutcomes = 0) => {
  const settled: Array<unknown> = []
  await send(lease(attempt, unknownOutcomes), settled).pipe(
    Effect.provideService(Transport, { deliver: () => Effect.succeed(outcome) }),
    Effect.runPromise,
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
    const settlement = {
      state: "retry",
      attempts: 0,
      isUnknown: true,
      delaySeconds,
      failure: { class: "slow", code: "." },
    }
    expect(await settlementOf(unknown, 1, unknownOutcomes)).toEqual(settlement)
  }
})

it.each([
  ["before the message could be accepted, nothing is settled", false, []],
  ["after that, its outcome is unknown", true, [true]],
] as const)("if the sender stops %s", async (_, mayComplete, states) => {
  const settled: Array<unknown> = []
  const sending = Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const transport = Transport.of({
      deliver: (_, complete) =>
        Effect.andThen(
          Effect.suspend(() => {
            if (mayComplete) complete()
            return Deferred.succeed(begun, undefined)
          }),
          Effect.never,
        ),
    })
    const fiber = yield* send(lease(1, 0), settled).pipe(Effect.provideService(Transport, transport), Effect.forkChild)
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(fiber)
  })
  await Effect.runPromise(sending)
  expect(settled).toMatchObject(states.map((isUnknown) => ({ isUnknown, failure: { class: "stopped" } })))
})
