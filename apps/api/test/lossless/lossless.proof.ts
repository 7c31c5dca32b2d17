import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Outcome, pollWhileWriting } from "./pollWhileWriting.ts"
import { report } from "./report.ts"
import { stampWithNow } from "./stampWithNow.ts"

/** How long the writers write, at the least. */
const SECONDS = Number(process.env["LOSSLESS_SECONDS"] ?? 8)

// After the writers, the pollers that ask for one row at a time have the longest way to go.
const timeout = 5 * 60_000

/** The pollers of which something is true, in words. */
const pollersWith = ({ verdicts }: Outcome, is: (verdict: Outcome["verdicts"][number]) => boolean) =>
  verdicts.filter(is).map(({ poller }) => `${poller.list}, ${poller.habit}, ${poller.limit}`)

describe("a poller of a list to which 24 writers write", { timeout }, () => {
  const databaseUrl = migratedDatabase()

  it("misses nothing and sees nothing that is another's or was rolled back, whatever its limit and habit", async () => {
    const outcome = await Effect.runPromise(pollWhileWriting(databaseUrl(), { seconds: SECONDS }))
    report(outcome)
    expect(pollersWith(outcome, ({ lost }) => lost.length > 0)).toEqual([])
    expect(pollersWith(outcome, ({ strange }) => strange.length > 0)).toEqual([])
    expect(pollersWith(outcome, ({ poller }) => poller.seen.size === 0)).toEqual([])

    // There was something to miss, and something that must not be seen.
    expect(outcome.held.outcome).toBe("the writers waited")
    expect(outcome.versions).toBeGreaterThan(outcome.recipients)
    expect(outcome.rolledBack).toBeGreaterThan(0)
    expect(outcome.beside).toBeGreaterThan(1)
  })
})

describe("the same pollers beside the same writers, were the stamps plain now()", { timeout }, () => {
  const databaseUrl = migratedDatabase()

  it("miss what commits behind them", async () => {
    const outcome = await Effect.runPromise(pollWhileWriting(databaseUrl(), { seconds: 0, prepare: stampWithNow }))
    report(outcome)
    expect(outcome.held.outcome).toBe("the pollers passed")
    const missed = pollersWith(outcome, ({ poller, lost }) => lost.includes(outcome.held.written[poller.list]))
    // Who starts afresh finds it in the end.
    const goOn = pollersWith(outcome, ({ poller }) => poller.habit !== "starting afresh")
    expect(missed).toEqual(expect.arrayContaining(goOn))
    expect(pollersWith(outcome, ({ strange }) => strange.length > 0)).toEqual([])
  })
})
