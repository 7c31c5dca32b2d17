import { describe, expect, it } from "@effect/vitest"
import { ALERT_RULES, type AlertReading, activeAlerts } from "../../src/operators/alerts.ts"

const WELL = Object.fromEntries(ALERT_RULES.map(({ reading }) => [reading, 0])) as unknown as AlertReading

describe("activeAlerts", () => {
  it("finds none while all is well, nor at a threshold", () => {
    expect(activeAlerts(WELL)).toEqual([])
    const atThresholds = Object.fromEntries(ALERT_RULES.map(({ reading, threshold }) => [reading, threshold]))
    expect(activeAlerts(atThresholds as unknown as AlertReading)).toEqual([])
  })

  it.each(ALERT_RULES.map((rule) => [rule.name, rule] as const))("finds %s above its threshold", (_, rule) => {
    const found = activeAlerts({ ...WELL, [rule.reading]: rule.threshold + 1 })
    expect(found).toEqual([{ ...rule, value: rule.threshold + 1 }])
  })

  it("lists critical alerts first", () => {
    const found = activeAlerts({ ...WELL, deadLetters: 3, noWorker: 1, unsubscriptionsOldestSeconds: 500 })
    expect(found.map(({ name }) => name)).toEqual([
      "OutreachNoWorker",
      "OutreachUnsubscriptionsWait",
      "OutreachDeadLettersLeft",
    ])
  })
})
