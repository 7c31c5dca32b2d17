import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { type Outcome, pollWhileWriting } from "./pollWhileWriting.ts"

/** Minimum writing time in seconds. */
const SECONDS = Number(process.env["LOSSLESS_SECONDS"] ?? 5)

/** Descriptions of the pollers that match a condition. */
const pollersWith = ({ verdicts }: Outcome, is: (verdict: Outcome["verdicts"][number]) => boolean) =>
  verdicts.filter(is).map(({ poller }) => `${poller.list}, ${poller.habit}, ${poller.limit}`)

const databaseUrl = migratedDatabase()

it("a poller sees every row, and no foreign or rolled-back one, with any limit and polling habit", async () => {
  const outcome = await Effect.runPromise(pollWhileWriting(databaseUrl(), SECONDS))
  const { verdicts, ...counts } = outcome
  console.log({ ...counts, pages: verdicts.reduce((sum, { poller }) => sum + poller.pages, 0) })
  expect(pollersWith(outcome, ({ lost }) => lost.length > 0)).toEqual([])
  expect(pollersWith(outcome, ({ strange }) => strange.length > 0)).toEqual([])
  expect(pollersWith(outcome, ({ poller }) => poller.seen.size === 0)).toEqual([])

  // The run contained rows that could be missed, and rows that must not be visible.
  expect(outcome.versions).toBeGreaterThan(outcome.recipients)
  expect(outcome.rolledBack).toBeGreaterThan(0)
  expect(outcome.beside).toBeGreaterThan(1)
})
