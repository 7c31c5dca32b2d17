import { describe, expect, it } from "@effect/vitest"
import { makeIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { HitLedger } from "@outreach/domain/outreach/HitLedger"
import { seedCampaign } from "@outreach/postgres/test/seedCampaign"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./eventually.ts"
import { journey } from "./journey.ts"
import { partner } from "./partner.ts"
import { runWorker } from "./runWorker.ts"
import { startWorker } from "./startWorker.ts"

const { url, run, query } = journey()

/** Stores so many clicks, a millisecond apart, of a recipient whose message was accepted an hour ago. */
const seedClicks = Effect.fnUntraced(function* (count: number, endpointUrl: string) {
  const seeded = yield* seedCampaign({ recipients: 1, endpointUrl })
  const organizationId = seeded.organization.id
  const sql = yield* SqlClient.SqlClient
  const [recipient] = yield* sql<{ id: RecipientId; token: string }>`
    update recipients set sent_at = clock_timestamp() - interval '1 hour' where organization_id = ${organizationId}
    returning id, token`
  const now = yield* Clock.currentTimeMillis
  const hits = yield* Effect.forEach(
    Array.from({ length: count }),
    Effect.fnUntraced(function* (_, i) {
      return {
        id: yield* makeIdentifier("hit"),
        organizationId,
        recipientId: recipient!.id,
        link: "https://clinic.test/",
        method: "GET",
        address: `198.51.${Math.floor(i / 256)}.${i % 256}`,
        headers: { "user-agent": i === 0 ? "curl/8.5.0" : "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" },
        cameAt: now - count + i,
      }
    }),
  )
  yield* (yield* HitLedger).record(hits)
  return { ...seeded, token: recipient!.token }
})

describe("the worker", () => {
  it("tells the partner of each click, suspected or not", async () => {
    const to = await partner()
    const { secret, campaign, program, token } = await run(seedClicks(2, to.url))
    to.trust(secret)
    await runWorker(url())
    const received = await eventually(
      () => to.received,
      (all) => all.length === 2,
    )
    const data = received.map(({ event }) => event.data).sort((a, b) => (a["clicked_at"]! > b["clicked_at"]! ? 1 : -1))
    const common = { service_campaign_id: campaign.id, service_program_id: program.id, token }
    expect(data).toEqual([
      { ...common, is_bot_suspected: true, clicked_at: expect.any(String) },
      { ...common, is_bot_suspected: false, clicked_at: expect.any(String) },
    ])
    expect(to.forged).toEqual([])
  })

  it("publishes each hit exactly once, whoever is killed while judging", async () => {
    const HITS = 5000
    const { organization } = await run(seedClicks(HITS, "http://127.0.0.1:1/webhooks"))
    const published = async () => {
      const [row] = await query<{ events: number; distinct: number; waiting: number }>(
        (sql) => sql`
          select count(*)::int as events, count(distinct occurred_at)::int as distinct,
            (select count(*)::int from hits where organization_id = ${organization.id} and judged_at is null) as waiting
          from events where organization_id = ${organization.id}`,
      )
      return row!
    }
    for (let kills = 0, before = 0; kills < 3; kills++) {
      const { child, ended } = await startWorker(url())
      const { events } = await eventually(published, ({ events }) => events > before)
      child.kill("SIGKILL")
      await ended
      before = events
    }
    await runWorker(url())
    await eventually(published, ({ waiting }) => waiting === 0)
    expect(await published()).toEqual({ events: HITS, distinct: HITS, waiting: 0 })
  })
})
