import { eventually } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { startNeighbours } from "./startNeighbours.ts"

const timeout = 240_000

it(
  "64 partners that hang leave 10 others their share: those have all that is theirs while the calls are still open",
  async ({ onTestFinished }) => {
    const { sick, healthy, stop } = await startNeighbours({ hanging: 64, healthy: 10, callSeconds: 100 })
    onTestFinished(stop)
    for (const { publish } of sick) await publish(20)
    const called = () => sick.filter(({ open }) => open.size > 0).length
    expect(await eventually(called, (called) => called === sick.length)).toBe(64)
    for (const { publish } of healthy) await publish(30)
    const served = () => healthy.filter(({ seen }) => seen.size === 30).length
    expect(await eventually(served, (served) => served === healthy.length)).toBe(10)
    // None of those calls has ended in the meantime.
    for (const { open, seen } of sick) expect(open.size).toBe(seen.size)
  },
  timeout,
)

it(
  "15 names of one partner that do not resolve keep no other waiting: 20 partners with names have all that is theirs, none of their breakers opens, and the workers find the database again by its name",
  async ({ onTestFinished }) => {
    const { dead, healthy, stop, reconnect, countOpenBreakers } = await startNeighbours({
      hanging: 0,
      healthy: 20,
      deadNames: 15,
      callSeconds: 100,
    })
    onTestFinished(stop)
    const served = (count: number) => healthy.filter(({ seen }) => seen.size === count).length
    for (const count of [3, 6]) {
      await dead!.publish(50)
      for (const { publish } of healthy) for (let i = 0; i < 3; i++) await publish(1)
      expect(
        await eventually(
          () => served(count),
          (served) => served === healthy.length,
        ),
      ).toBe(20)
      await reconnect()
    }
    expect(await countOpenBreakers()).toBe(0)
  },
  timeout,
)
