import type { Client } from "@outreach/client"
import { Effect, Schedule } from "effect"

/** Prints a text to standard output. */
export const printLine = (text: string): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${text}\n`))

const SINCE = "2020-01-01T00:00:00Z"

/** Pulls the oldest recipient record, and prints `curl` commands that pull records. */
export const printPullExample = Effect.fnUntraced(function* (baseUrl: string, apiKey: string, client: Client) {
  // The API may be restarting.
  const oldest = yield* Effect.tryPromise(() =>
    client.listTokens({ since: SINCE, limit: 1 })[Symbol.asyncIterator]().next(),
  ).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)
  const tokens = `${baseUrl}/v1/partners/consumer/tokens`
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`
  yield* printLine(`
Pull the records as a partner does, two per page, or one by its token:

  ${curl} '${tokens}?since=${SINCE}&limit=2'
  ${curl} ${tokens}/${oldest.value!.token}
`)
})
