import { describe, expect, it } from "@effect/vitest"
import { ALERTS, type Alert, activeAlerts } from "../../src/operators/alerts.ts"
import { FACTS, type Fact, type FactValues } from "../../src/operators/facts.ts"

/** The fact of an alert, beyond its limit by a number. */
const beyond = ({ fact, of, above = 0, below }: Alert, excess: number): Partial<FactValues> => {
  const value = below === undefined ? above + excess : below - excess
  const { by = {} } = FACTS[fact] as Fact
  const others = Object.fromEntries(Object.values(by).flatMap((values) => values.map((each) => [each, 0])))
  return { [fact]: of === undefined ? value : { ...others, [of]: value } }
}

describe("activeAlerts", () => {
  it("finds none at a limit, nor on facts that weren't read", () => {
    expect(activeAlerts({ workers: 1, deadLetters: { rejected: 0, exhausted: 0, poison: 0 } })).toEqual([])
    expect(activeAlerts({})).toEqual([])
  })

  it.each(ALERTS.map((alert) => [alert.name, alert] as const))(
    "finds %s beyond its limit, but not at it",
    (_, alert) => {
      const at = activeAlerts(beyond(alert, 0))
      expect(at.map(({ name }) => name)).not.toContain(alert.name)
      const active = activeAlerts(beyond(alert, 1))
      expect(active.find(({ name }) => name === alert.name)).toMatchObject(alert)
    },
  )

  it("sums counts, and uses the longest time", () => {
    const active = activeAlerts({
      deadLetters: { rejected: 1, exhausted: 2, poison: 3 },
      horizonSeconds: { session: 601, replication_slot: 0, prepared_transaction: 599 },
    })
    expect(active.map(({ name, value }) => [name, value])).toEqual([
      ["OutreachDeadLettersLeft", 6],
      ["OutreachHorizonHeld", 601],
    ])
  })

  it("lists critical alerts first", () => {
    const deadLetters = { rejected: 3, exhausted: 0, poison: 0 }
    const found = activeAlerts({ deadLetters, workers: 0, unsubscriptionsOldestSeconds: 500 })
    expect(found.map(({ name }) => name)).toEqual([
      "OutreachNoWorker",
      "OutreachUnsubscriptionsWait",
      "OutreachDeadLettersLeft",
    ])
  })
})
