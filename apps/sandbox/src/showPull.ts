import type { Client } from "@outreach/client"
import { Effect, Schedule } from "effect"
import { say } from "./say.ts"

const SINCE = "2020-01-01T00:00:00Z"

/** Pulls the oldest recipient record as the partner does, and prints the commands that do the same. */
export const showPull = Effect.fnUntraced(function* (baseUrl: string, apiKey: string, client: Client) {
  // The API may be away for a moment.
  const oldest = yield* Effect.tryPromise(() =>
    client.listTokens({ since: SINCE, limit: 1 })[Symbol.asyncIterator]().next(),
  ).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)
  const tokens = `${baseUrl}/v1/partners/consumer/tokens`
  const curl = `curl -s -H 'Authorization: Bearer ${apiKey}'`
  yield* say(`
Pull the records as the partner does, two a page, or one by its token:

  ${curl} '${tokens}?since=${SINCE}&limit=2'
  ${curl} ${tokens}/${oldest.value!.token}
`)
})
