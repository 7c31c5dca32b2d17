import { expect, it } from "vitest"
import { behaviorOf } from "../src/behaviorOf.ts"

const behaviors = Array.from({ length: 10_000 }, (_, i) => behaviorOf(`clinician${i}@clinic.test`))

it("is the same for one address, however it is written", () => {
  expect(behaviorOf("Dana@Clinic.test")).toEqual(behaviorOf("dana@clinic.test"))
})

it("lets every clinician act within two minutes, and not within the first seconds", () => {
  const waits = behaviors.map(({ readAfterMs }) => readAfterMs)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2000)
  expect(Math.max(...waits)).toBeLessThanOrEqual(120_000)
})

it("lets no one click without opening, reach the partner without clicking, or act with an unknown mailbox", () => {
  for (const { bounces, scanned, opens, clicks, unsubscribes, stages } of behaviors) {
    if (clicks || unsubscribes) expect(opens).toBe(true)
    if (stages > 0) expect(clicks).toBe(true)
    if (bounces) expect([scanned, opens]).toEqual([false, false])
    if (unsubscribes) expect(clicks).toBe(false)
  }
})
