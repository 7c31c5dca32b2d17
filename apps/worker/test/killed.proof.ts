import { eventually } from "@outreach/testing/eventually"
import { sql } from "@outreach/testing/sql"
import { expect, it } from "vitest"
import { journey } from "./journey.ts"
import { seedClicks } from "./seedClicks.ts"
import { startWorker } from "./startWorker.ts"

const { url, run } = journey()

it("the worker's process publishes each hit exactly once, even if workers are killed while judging", async () => {
  const HITS = 3000
  const { organization } = await run(seedClicks(HITS, "http://127.0.0.1:1/webhooks"))
  const published = async () => {
    const [row] = await run(sql<{ events: number; distinct: number; waiting: number }>`
      select count(*)::int as events, count(distinct occurred_at)::int as distinct,
        (select count(*)::int from hits where organization_id = ${organization.id} and judged_at is null) as waiting
      from events where organization_id = ${organization.id}`)
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
