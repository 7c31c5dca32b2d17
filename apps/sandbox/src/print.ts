import type { Client } from "@outreach/client"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
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

/** Describes the campaign that an earlier run has launched; undefined if the campaign is still a draft. */
export const earlierState = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaigns = yield* CampaignRepository
  const { name, status, createdAt } = yield* campaigns.find(campaignId)
  if (status === "draft") return undefined
  const { recipients, sent, bounced } = yield* campaigns.progress(campaignId)
  const number = (value: number) => value.toLocaleString("en")
  return `This continues an earlier run: the campaign "${name}" of ${createdAt.slice(0, 10)} is ${status}, with ${number(sent)} of ${number(recipients)} e-mails sent and ${number(bounced)} bounced.
The mail catcher begins empty, because e-mails are not kept from one run to the next. To begin anew: pnpm start --fresh
`
})
