import { describe, expect, it } from "@effect/vitest"
import { Mailer } from "@outreach/domain/outreach/Mailer"
import type { MessageLease } from "@outreach/domain/outreach/Message"
import { MessageQueue } from "@outreach/domain/outreach/MessageQueue"
import { ReturnPaths } from "@outreach/domain/outreach/ReturnPaths"
import { TrackingLinks } from "@outreach/domain/outreach/TrackingLinks"
import { TrackingSeal } from "@outreach/domain/outreach/TrackingSeal"
import { Deferred, type Duration, Effect, Layer, Logger } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { sendOutreach } from "../src/sendOutreach.ts"

const id = "0".repeat(32)
const lease: MessageLease = {
  organizationId: `org_${id}`,
  campaignId: `cmp_${id}`,
  programId: `pgm_${id}`,
  recipientId: `rcp_${id}`,
  leaseToken: "token",
  token: "aB3dE9",
  email: "someone@clinic.test",
  attempt: 1,
}

/** Lets a worker take one message and then stand still; answers the addresses that it wrote to until the message was settled or left. */
const writtenTo = (standingStill: Duration.Input) =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    const over = yield* Deferred.make<void>()
    let claims = 0
    const queue = Layer.succeed(MessageQueue, {
      claim: () => Effect.sync(() => (claims++ === 0 ? [lease] : [])),
      template: () =>
        Effect.as(TestClock.adjust(standingStill), {
          subject: "Hello",
          html: "<p>Hello</p>",
          campaignName: "Spring",
          programName: "Heart failure",
          shortLink: null,
        }),
      settle: () => Deferred.succeed(over, undefined),
    })
    // What is left is logged.
    const logger = Logger.layer([
      Logger.make(({ message }) => {
        if (String(message).startsWith("message left")) Deferred.doneUnsafe(over, Effect.void)
      }),
    ])
    const mailer = Layer.succeed(Mailer, {
      send: ({ to }) => Effect.sync(() => ({ _tag: "Accepted" as const, at: sent.push(to) })),
    })
    const seal = Layer.succeed(TrackingSeal, { seal: () => new Uint8Array(16) })
    const links = Layer.merge(TrackingLinks.below("https://o.test"), ReturnPaths.at("o.test")).pipe(Layer.provide(seal))
    yield* sendOutreach({ mailDomain: "o.test", drainSeconds: 0, perMinute: null, perDomainMinute: null }).pipe(
      Effect.provide(Layer.mergeAll(queue, mailer, links, logger, SecureRandom.layerWebCrypto)),
      Effect.forkChild,
    )
    yield* Deferred.await(over)
    return sent
  })

describe("sendOutreach", () => {
  it.effect("writes to whom it has leased", () =>
    Effect.gen(function* () {
      expect(yield* writtenTo("14 seconds")).toEqual([lease.email])
    }),
  )

  it.effect("leaves a message to its lease when it stood still for so long that a call could outlast it", () =>
    Effect.gen(function* () {
      expect(yield* writtenTo("16 seconds")).toEqual([])
    }),
  )
})
