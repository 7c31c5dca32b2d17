import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { REPOSITORY } from "./artifact.ts"
import { GROUPS } from "./oncall/groups.ts"
import { cellsOf, PAGE, readRows } from "./oncall/onCallTable.ts"
import { ALERTS } from "./oncall/startPrometheus.ts"

const faults = GROUPS.flatMap(({ faults }) => faults)

it("the page has a row for each fault that is broken, with its signs and its commands", () => {
  const rows = readRows(readFileSync(join(REPOSITORY, PAGE), "utf8"))
  const written = [...rows].map(([name, row]) => {
    const [, fault, signals, , remedy] = row.split(/ \| |^\| | \|$/)
    return { name, fault, signals, remedy }
  })
  expect(written).toEqual(faults.map((fault) => ({ name: fault.name, ...cellsOf(fault) })))
})

it("names each fault once, and only alerts that exist", () => {
  const names = faults.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const alerts = faults.flatMap(({ signals }) => signals.flatMap((signal) => ("alert" in signal ? [signal.alert] : [])))
  expect(alerts.filter((alert) => !ALERTS.has(alert))).toEqual([])
})
