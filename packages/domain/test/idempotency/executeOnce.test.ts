import { Result } from "effect"
import { expect, it } from "vitest"
import { decideReplay, IdempotencyKeyInUse, IdempotencyKeyReused } from "../../src/idempotency/executeOnce.ts"

const response = { status: 200, headers: {}, body: "{}" }
const execute = Result.succeed(undefined)
const replay = Result.succeed(response)
const reused = Result.fail(new IdempotencyKeyReused())
const inUse = Result.fail(new IdempotencyKeyInUse())

it.each([
  ["no response", "ours", undefined, execute],
  ["no response", "same", undefined, inUse],
  ["no response", "other", undefined, reused],
  ["its own response", "ours", { isSame: true, response }, replay],
  ["its own response", "same", { isSame: true, response }, replay],
  ["its own response", "other", { isSame: true, response }, replay],
  ["another request's response", "ours", { isSame: false, response }, reused],
  ["another request's response", "same", { isSame: false, response }, reused],
  ["another request's response", "other", { isSame: false, response }, reused],
] as const)("decideReplay knows what follows from %s, with the key held as %s", (_, holder, stored, decision) => {
  expect(decideReplay(stored, holder)).toEqual(decision)
})
