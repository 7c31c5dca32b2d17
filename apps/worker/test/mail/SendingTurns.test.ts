import type { CampaignId } from "@outreach/domain/Identifier"
import { Clock, Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { SendingTurns } from "../../src/mail/SendingTurns.ts"

const acme = "cmp_1" as CampaignId
const other = "cmp_2" as CampaignId
const soon = Effect.map(Clock.currentTimeNanos, (now) => now + 60_000_000_000n)
const begin = (turns: SendingTurns, campaign = acme) =>
  Effect.runFork(Effect.flatMap(soon, (beginBy) => turns.take(campaign, beginBy)))
const granted = async (fiber: ReturnType<typeof begin>) => (await Effect.runPromise(Fiber.join(fiber)))!
const take = (turns: SendingTurns, campaign = acme) => granted(begin(turns, campaign))

describe("a turn", () => {
  it("is free again when the message has its outcome, and only once", async () => {
    const turns = new SendingTurns(1, 1)
    const first = await take(turns)
    const second = begin(turns)
    first.release()
    const turn = await granted(second)
    const third = begin(turns)
    first.end()
    expect(third.pollUnsafe()).toBeUndefined()
    turn.release()
    expect(await granted(third)).toBeDefined()
  })

  it("waits while two outcomes per turn are unrecorded", async () => {
    const turns = new SendingTurns(2, 2)
    const answered = []
    for (let i = 0; i < 4; i++) {
      answered.push(await take(turns))
      answered[i]!.release()
    }
    const fifth = begin(turns)
    expect(fifth.pollUnsafe()).toBeUndefined()
    answered[0]!.end()
    expect(await granted(fifth)).toBeDefined()
  })

  it("isn't taken by a campaign that has its share, and is by another", async () => {
    const turns = new SendingTurns(2, 1)
    const first = await take(turns)
    const second = begin(turns)
    expect(second.pollUnsafe()).toBeUndefined()
    expect(await take(turns, other)).toBeDefined()
    first.end()
    expect(await granted(second)).toBeDefined()
  })

  it("is refused to a message that could outlast its lease", async () => {
    expect(await Effect.runPromise(new SendingTurns(1, 1).take(acme, 0n))).toBeUndefined()
  })
})
