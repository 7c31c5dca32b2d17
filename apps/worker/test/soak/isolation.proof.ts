import { expect, it } from "vitest"
import { eventually } from "../eventually.ts"
import { startNeighbours } from "./startNeighbours.ts"

it("a partner that hangs keeps no other waiting: 99 have all that is theirs while its calls are still open", async ({
  onTestFinished,
}) => {
  const { sick, healthy, stop } = await startNeighbours({ callSeconds: 100 })
  onTestFinished(stop)
  await sick.publish(1000)
  await eventually(
    () => sick.open.size,
    (open) => open === 16,
  )
  for (const { publish } of healthy) await publish(3)
  const served = () => healthy.filter(({ seen }) => seen.size === 3).length
  expect(await eventually(served, (served) => served === healthy.length)).toBe(99)
  expect(sick.open.size).toBe(16)
  expect(sick.seen.size).toBe(16)
}, 60_000)
