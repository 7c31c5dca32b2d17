import { describe, expect, it } from "vitest"
import { eventually } from "./eventually.ts"
import { holdingPartner } from "./holdingPartner.ts"
import { journey } from "./journey.ts"
import { startWorker } from "./startWorker.ts"

const { url, launch, deliveries, attempts, endLeases } = journey()

describe("the worker's process", () => {
  it("loses nothing when it is killed: its leases go to another worker, and no attempt is spent", async () => {
    const { to, receives, answer } = await holdingPartner()
    const { endpoint } = await launch(to, 1100)
    const killed = await startWorker(url())
    await receives(3)
    killed.child.kill("SIGKILL")
    expect(await killed.ended).toBe(null)
    answer()
    const states = (await deliveries(endpoint.id)).map(({ state, attempts }) => ({ state, attempts }))
    expect(states).toEqual(Array(3).fill({ state: "sending", attempts: 0 }))

    await endLeases(endpoint.id)
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
    expect(await attempts(delivered[0]!.id)).toEqual([
      { number: 1, outcome: "outcome_unknown", status: null },
      { number: 1, outcome: "success", status: 200 },
    ])
    const [first, again] = [to.received.slice(0, 3), to.received.slice(3)]
    const ids = (received: typeof first) => received.map(({ event }) => event.event_id).sort()
    expect(ids(again)).toEqual(ids(first))
  })
})
