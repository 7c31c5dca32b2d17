import type { RecipientId } from "@outreach/domain/Identifier"
import { recordHits } from "@outreach/testing/recordHits"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { Clock } from "effect"
import { expect, it } from "vitest"
import { journey } from "./journey.ts"
import { startWorker } from "./startWorker.ts"

const { url, run } = journey()

it("the worker's process publishes each hit exactly once, even if workers are killed while judging", async () => {
  const HITS = 3000
  const organizationId = await run(function* () {
    const { organization } = yield* seedCampaign({ recipients: 1 })
    const recipientId = yield* value<RecipientId>`
      update recipients set sent_at = clock_timestamp() - interval '1 hour' where organization_id = ${organization.id}
      returning id`
    const now = yield* Clock.currentTimeMillis
    // Each on a separate link, because few hits per link and minute are forwarded.
    const clicks = Array.from({ length: HITS }, (_, i) => ({
      ...{ organizationId: organization.id, recipientId, link: `https://clinic.test/${i}`, cameAt: now - i },
      address: `198.51.${Math.floor(i / 256)}.${i % 256}`,
    }))
    yield* recordHits(...clicks)
    return organization.id
  })
  const published = async () => {
    const [row] = await run(sql<{ events: number; distinct: number; waiting: number }>`
      select count(*)::int as events, count(distinct occurred_at)::int as distinct,
        (select count(*)::int from hits where organization_id = ${organizationId} and judged_at is null) as waiting
      from events where organization_id = ${organizationId}`)
    return row!
  }
  for (let kills = 0, before = 0; kills < 3; kills++) {
    const worker = await startWorker(url())
    const { events } = await eventually(published, ({ events }) => events > before)
    await worker.kill()
    before = events
  }
  await startWorker(url())
  await eventually(published, ({ waiting }) => waiting === 0)
  expect(await published()).toEqual({ events: HITS, distinct: HITS, waiting: 0 })
})
