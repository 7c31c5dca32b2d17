import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Clock, Effect } from "effect"

/** Stores a number of clicks, a millisecond apart, by a recipient whose message was accepted an hour ago. */
export const seedClicks = Effect.fnUntraced(function* (count: number, endpointUrl: string) {
  const seeded = yield* seedCampaign({ recipients: 1, endpointUrl })
  const organizationId = seeded.organization.id
  const [recipient] = yield* sql<{ id: RecipientId; token: string }>`
    update recipients set sent_at = clock_timestamp() - interval '1 hour' where organization_id = ${organizationId}
    returning id, token`
  const now = yield* Clock.currentTimeMillis
  const hits = yield* Effect.forEach(
    Array.from({ length: count }),
    Effect.fnUntraced(function* (_, i) {
      return {
        id: yield* createIdentifier("hit"),
        organizationId,
        recipientId: recipient!.id,
        // Each on a separate link, because few hits per link and minute are forwarded.
        link: `https://clinic.test/${i}`,
        method: "GET",
        address: `198.51.${Math.floor(i / 256)}.${i % 256}`,
        headers: { "user-agent": i === 0 ? "curl/8.5.0" : "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" },
        cameAt: now - count + i,
      }
    }),
  )
  yield* (yield* HitRepository).record(hits)
  return { ...seeded, token: recipient!.token }
})
