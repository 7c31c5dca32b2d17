import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { SmtpConnections } from "../../src/mail/SmtpConnections.ts"
import { testLease } from "./testMail.ts"

describe("a connection", () => {
  it("stays with the message that has it when the outcome of the one before is recorded", async () => {
    const connections = new SmtpConnections(1, 1)
    const lease = await Effect.runPromise(testLease)
    const take = () => Effect.runFork(connections.take(lease))
    const first = (await Effect.runPromise(Fiber.join(take())))!
    const second = take()
    connections.release(first)
    const turn = (await Effect.runPromise(Fiber.join(second)))!
    const third = take()
    connections.recorded(first)
    expect(third.pollUnsafe()).toBeUndefined()
    connections.release(turn)
    expect((await Effect.runPromise(Fiber.join(third)))!.connection).toBe(turn.connection)
  })

  it("doesn't start a third message until the outcome of an earlier one is recorded", async () => {
    const connections = new SmtpConnections(1, 1)
    const lease = await Effect.runPromise(testLease)
    const take = () => Effect.runFork(connections.take(lease))
    const first = (await Effect.runPromise(Fiber.join(take())))!
    connections.release(first)
    const second = (await Effect.runPromise(Fiber.join(take())))!
    connections.release(second)
    const third = take()
    expect(third.pollUnsafe()).toBeUndefined()
    connections.recorded(first)
    expect(await Effect.runPromise(Fiber.join(third))).toBeDefined()
  })

  it("accepts messages during a long recording, up to two per connection in total", async () => {
    const connections = new SmtpConnections(2, 2)
    const lease = await Effect.runPromise(testLease)
    const begin = async () => (await Effect.runPromise(connections.take(lease)))!
    await begin()
    const answered = [await begin()]
    for (const turn of answered) {
      connections.release(turn)
      if (answered.length < 3) answered.push(await begin())
    }
    const fifth = Effect.runFork(connections.take(lease))
    expect(fifth.pollUnsafe()).toBeUndefined()
    connections.recorded(answered[0]!)
    expect(await Effect.runPromise(Fiber.join(fifth))).toBeDefined()
  })
})
