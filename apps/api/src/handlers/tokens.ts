import { Deployment } from "@outreach/domain/Deployment"
import type { CampaignId } from "@outreach/domain/Identifier"
import { RecipientRepository, recipientsFrom } from "@outreach/domain/recipients/Recipient"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import type { Handler, HandlerInput } from "../http/Handlers.ts"
import { RequestError } from "../http/RequestError.ts"
import { etag, matchesEtag } from "./etag.ts"
import { listPage } from "./listPage.ts"
import { RecipientPosition, recipientRecord, recipientRecords, summariesFor } from "./recipientRecord.ts"

export const getToken: Handler<"getToken"> = Effect.fnUntraced(function* ({
  caller: { organizationId },
  path,
  query,
  headers,
}: HandlerInput<"getToken">) {
  const { livemode } = yield* Deployment
  const recipient = yield* (yield* RecipientRepository).find(organizationId, path.token)
  if (recipient === undefined) return yield* Effect.fail(RequestError.TokenNotFound)
  const expansion = query["expand[]"]
  const summaries = yield* summariesFor(organizationId, [recipient], expansion)

  const tag = etag(recipient, expansion, summaries.get(recipient.campaignId))
  const caching = { ETag: tag, "Cache-Control": "private, max-age=10, must-revalidate" }
  if (matchesEtag(headers["if-none-match"], tag)) return { status: 304, headers: caching, body: null }
  return { status: 200, headers: caching, body: recipientRecord(recipient, livemode, expansion, summaries) }
})

/** Lists the recipients updated since a time, in pages. */
export const listTokens: Handler<"listTokens"> = Effect.fnUntraced(function* (input: HandlerInput<"listTokens">) {
  const { organizationId } = input.caller
  const since = input.query.since as Timestamp
  const recipients = yield* RecipientRepository
  return yield* listPage(input, {
    scope: ["listTokens", organizationId, since],
    position: RecipientPosition,
    start: recipientsFrom(since),
    read: (after, limit) => recipients.page(organizationId, after, limit),
    toWire: recipientRecords(organizationId, input.query["expand[]"]),
  })
})

/** Lists the recipients of a campaign, in pages. Returns an empty list for unknown campaigns. */
export const listCampaignRecipients: Handler<"listCampaignRecipients"> = Effect.fnUntraced(function* (
  input: HandlerInput<"listCampaignRecipients">,
) {
  const { organizationId } = input.caller
  const campaignId = input.path.id as CampaignId
  const recipients = yield* RecipientRepository
  return yield* listPage(input, {
    scope: ["listCampaignRecipients", organizationId, campaignId],
    position: RecipientPosition,
    start: undefined,
    read: (after, limit) =>
      Effect.map(recipients.pageOfCampaign(organizationId, campaignId, after, limit), (rows) => ({
        rows,
        isSettled: true,
      })),
    toWire: recipientRecords(organizationId, input.query["expand[]"]),
  })
})
