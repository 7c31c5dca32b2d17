import type { List, RecipientRecord } from "@outreach/contract"
import { CursorError, cursorCodec } from "@outreach/cursor"
import { Deployment } from "@outreach/domain/Deployment"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { type RecipientPosition, RecipientRegister } from "@outreach/domain/recipients/RecipientRegister"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Redacted } from "effect"
import * as z from "zod"
import { ApiConfig } from "../ApiConfig.ts"
import type { Asked, Handler } from "../http/Handlers.ts"
import type { Refusal } from "../http/refuse.ts"
import { etag, matchesEtag } from "./etag.ts"
import { recipientRecord, summariesFor } from "./recipientRecord.ts"

/** Resolves one token, conditionally. */
export const getToken: Handler<"getToken"> = Effect.fnUntraced(function* ({
  caller: { organizationId },
  path,
  query,
  headers,
}: Asked<"getToken">) {
  const { livemode } = yield* Deployment
  const recipient = yield* (yield* RecipientRegister).find(organizationId, path.token)
  if (recipient === undefined) return yield* Effect.fail<Refusal>({ reason: "token not found" })
  const expansion = query["expand[]"]
  const summaries = yield* summariesFor(organizationId, [recipient], expansion)

  const tag = etag(recipient, expansion, summaries.get(recipient.campaignId))
  const caching = { ETag: tag, "Cache-Control": "private, max-age=10, must-revalidate" }
  if (matchesEtag(headers["If-None-Match"], tag)) return { status: 304, headers: caching, body: null }
  return { status: 200, headers: caching, body: recipientRecord(recipient, livemode, expansion, summaries) }
})

/** Lists the recipients updated since a time, one page after another. */
export const listTokens: Handler<"listTokens"> = Effect.fnUntraced(function* ({
  caller: { organizationId },
  query,
  url,
}: Asked<"listTokens">) {
  const { cursor, limit } = query
  const since = query.since as Timestamp
  const { livemode } = yield* Deployment
  const cursors = yield* cursorsOf(organizationId, since)
  const after = cursor === undefined ? undefined : yield* cursors.decode(cursor)

  // One row more than asked for tells whether another page follows.
  const rows = yield* (yield* RecipientRegister).page(organizationId, after ? { after } : { since }, limit + 1)
  const recipients = rows.slice(0, limit)
  const last = rows.length > limit ? recipients.at(-1) : undefined
  const expansion = query["expand[]"]
  const summaries = yield* summariesFor(organizationId, recipients, expansion)

  const body: List<RecipientRecord> = {
    object: "list",
    livemode,
    data: recipients.map((recipient) => recipientRecord(recipient, livemode, expansion, summaries)),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : cursors.encode(last),
    url,
  }
  return { status: 200, headers: {}, body }
})

const Position = z.object({ updatedAt: z.string(), id: z.string() })

const CURSOR_REFUSED: Refusal = {
  reason: "bad request",
  code: "INVALID_PARAMETER",
  parameter: "cursor",
  message: "cursor: is not a next_cursor of this list for this key and this since",
}

/** Cursors of one organization's list since one time. */
const cursorsOf = Effect.fnUntraced(function* (organizationId: OrganizationId, since: Timestamp) {
  const { cursorKey } = yield* ApiConfig
  const codec = cursorCodec({
    schema: Position,
    key: Redacted.value(cursorKey),
    scope: JSON.stringify(["listTokens", organizationId, since]),
  })
  return {
    encode: ({ updatedAt, id }: RecipientPosition): string => codec.encode({ updatedAt, id }),
    decode: (cursor: string): Effect.Effect<RecipientPosition, Refusal> =>
      Effect.try({
        try: () => codec.decode(cursor) as { updatedAt: Timestamp; id: RecipientId },
        catch: (error) => {
          if (error instanceof CursorError) return CURSOR_REFUSED
          throw error
        },
      }),
  }
})
