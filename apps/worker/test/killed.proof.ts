import { eventually } from "@outreach/testing/eventually"
import { describe, expect, it } from "vitest"
import { holdingPartner } from "./holdingPartner.ts"
import { journey } from "./journey.ts"
import { seedClicks } from "./seedClicks.ts"
import { startWorker } from "./startWorker.ts"

const { url, run, query, launch, deliveries } = journey()

describe("the worker's process", () => {
  it("loses no deliveries when it is killed: another worker takes over its endpoints without using an attempt", async () => {
    const { to, receives, answer } = await holdingPartner()
    const { endpoint } = await launch(to, 1100)
    const killed = await startWorker(url())
    await receives(3)
    expect(await killed.kill()).toBe(null)
    answer()
    const states = (await deliveries(endpoint.id)).map(({ state, attempts }) => ({ state, attempts }))
    expect(states).toEqual(Array(3).fill({ state: "sending", attempts: 0 }))

    await startWorker(url())
    await receives(6)
    answer()
    const delivered = await eventually(
      () => deliveries(endpoint.id),
      (all) => all.every(({ state }) => state === "delivered"),
    )
    expect(delivered.map(({ state, attempts }) => ({ state, attempts }))).toEqual(
      Array(3).fill({ state: "delivered", attempts: 1 }),
    )
    expect(delivered[0]!.made).toMatchObject([
      { number: 1, outcome: "outcome_unknown", status: null },
      { number: 1, outcome: "success", status: 200 },
    ])
    const [first, again] = [to.received.slice(0, 3), to.received.slice(3)]
    const ids = (received: typeof first) => received.map(({ event }) => event.event_id).sort()
    expect(ids(again)).toEqual(ids(first))
  })

  it("publishes each hit exactly once, even if workers are killed while judging", async () => {
    const HITS = 3000
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
      const worker = await startWorker(url())
      const { events } = await eventually(published, ({ events }) => events > before)
      await worker.kill()
      before = events
    }
    await startWorker(url())
    await eventually(published, ({ waiting }) => waiting === 0)
    expect(await published()).toEqual({ events: HITS, distinct: HITS, waiting: 0 })
  })
})
