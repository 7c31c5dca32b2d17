import type { FeedEvent, List } from "@outreach/contract"

const positionOf = ({ emitted_at, event_id }: FeedEvent) => `${emitted_at} ${event_id}`

/** Returns a page of a feed as the service does: in the order of (`emitted_at`, `event_id`), from `since` or after a cursor. */
export function pageOf(
  feed: readonly FeedEvent[],
  { since, cursor, limit }: { readonly since: string; readonly cursor: string | undefined; readonly limit: number },
): List<FeedEvent> {
  const rows = feed
    .filter((event) => (cursor === undefined ? event.emitted_at >= since : positionOf(event) > cursor))
    .sort((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1))
  const data = rows.slice(0, limit)
  const next_cursor = rows.length > limit ? positionOf(data.at(-1)!) : null
  return { object: "list", livemode: false, data, has_more: next_cursor !== null, next_cursor, url: "" }
}
