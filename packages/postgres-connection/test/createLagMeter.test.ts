import { createLagMeter } from "@outreach/postgres-connection/createLagMeter"
import { describe, expect, it } from "vitest"

const at = (server: string, position: number) => ({ server, position })

describe("createLagMeter", () => {
  it("finds no lag behind an idle primary, however long it is idle", () => {
    const meter = createLagMeter()
    for (const second of [0, 1, 60]) meter.add(1000 * second, at("a", 10))
    expect(meter.lagAt(60_000, 10)).toEqual({ ms: 0, isKnown: true })
  })

  it("measures from the newest place that was replayed", () => {
    const meter = createLagMeter()
    meter.add(0, at("a", 10))
    meter.add(1000, at("a", 20))
    meter.add(2000, at("a", 30))
    expect(meter.lagAt(2500, 25)).toEqual({ ms: 1500, isKnown: true })
    expect(meter.lagAt(2500, 30)).toEqual({ ms: 500, isKnown: true })
  })

  it("says how much it is at least where nothing that it knows was replayed", () => {
    const meter = createLagMeter()
    meter.add(1000, at("a", 10))
    meter.add(2000, at("a", 20))
    expect(meter.lagAt(3000, 9)).toEqual({ ms: 2000, isKnown: false })
  })

  it("forgets what another primary wrote", () => {
    const meter = createLagMeter()
    meter.add(0, at("a", 10))
    meter.add(1000, at("b", 12))
    expect(meter.lagAt(1000, 11)).toEqual({ ms: 0, isKnown: false })
  })
})
