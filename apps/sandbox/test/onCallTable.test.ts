import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { REPOSITORY } from "./artifact.ts"
import { FAULTS } from "./oncall/groups.ts"
import { cellsOf, PAGE, readRows } from "./oncall/onCallTable.ts"
import { ALERTS } from "./oncall/startPrometheus.ts"

it("the page has a row for each fault that is broken, with its signs and its commands", () => {
  const rows = readRows(readFileSync(join(REPOSITORY, PAGE), "utf8"))
  const written = [...rows].map(([name, row]) => {
    const [, fault, signals, , remedy] = row.split(/ \| |^\| | \|$/)
    return { name, fault, signals, remedy }
  })
  expect(written).toEqual(FAULTS.map((fault) => ({ name: fault.name, ...cellsOf(fault) })))
})

it("names each fault once, and only alerts that exist", () => {
  const names = FAULTS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const alerts = FAULTS.flatMap(({ signals }) => signals.flatMap((signal) => ("alert" in signal ? [signal.alert] : [])))
  expect(alerts.filter((alert) => !ALERTS.has(alert))).toEqual([])
})
