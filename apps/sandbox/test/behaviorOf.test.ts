import { expect, it } from "vitest"
import { behaviorOf } from "../src/behaviorOf.ts"

const behaviors = Array.from({ length: 10_000 }, (_, i) => behaviorOf(`clinician${i}@clinic.test`))
const count = (does: (behavior: ReturnType<typeof behaviorOf>) => boolean) => behaviors.filter(does).length

it("is the same for one address, however it is written", () => {
  expect(behaviorOf("Dana@Clinic.test")).toEqual(behaviorOf("dana@clinic.test"))
})

it("lets a few of many do each thing, in two minutes", () => {
  expect({
    opens: Math.round(count(({ opens }) => opens) / 1000),
    clicks: Math.round(count(({ clicks }) => clicks) / 500),
    accounts: Math.round(count(({ stages }) => stages >= 1) / 200),
    learners: Math.round(count(({ stages }) => stages >= 2) / 100),
    completers: Math.round(count(({ stages }) => stages === 3) / 100),
    unsubscribes: Math.round(count(({ unsubscribes }) => unsubscribes) / 100),
    bounces: Math.round(count(({ bounces }) => bounces) / 100),
    scanned: Math.round(count(({ scanned }) => scanned) / 100),
  }).toEqual({ opens: 4, clicks: 3, accounts: 3, learners: 3, completers: 1, unsubscribes: 2, bounces: 2, scanned: 3 })
  const waits = behaviors.map(({ readAfterMs }) => readAfterMs)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2000)
  expect(Math.max(...waits)).toBeLessThanOrEqual(120_000)
})

it("lets nobody click without opening, come to the partner without clicking, or do anything with an unknown mailbox", () => {
  for (const { bounces, scanned, opens, clicks, unsubscribes, stages } of behaviors) {
    if (clicks || unsubscribes) expect(opens).toBe(true)
    if (stages > 0) expect(clicks).toBe(true)
    if (bounces) expect([scanned, opens]).toEqual([false, false])
    if (unsubscribes) expect(clicks).toBe(false)
  }
})
