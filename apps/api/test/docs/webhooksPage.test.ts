import { readFileSync } from "node:fs"
import { EVENTS, type EventType, eventExamples } from "@outreach/contract"
import { beforeAll, describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { shownOf } from "./samplesOf.ts"

const api = startApi(undefined, { UNAUTHENTICATED_LIMIT: "77" })
let text: string
beforeAll(async () => {
  text = await (await fetch(`${api().url}/docs/webhooks`)).text()
})

const sectionOf = (id: string) => text.split(`<h3 id="${id}">`)[1]!.split(/<h[23]/)[0]!

const rowsOf = (label: string) => {
  const [table] = text.split(`aria-label="${label}"`)[1]!.split("</tbody>")
  const rows = Array.from(table!.matchAll(/<tr>(.*?)<\/tr>/gs), ([, row]) => row!.trim().split(/(?=<t[hd])/))
  return rows.slice(1).map((cells) => cells.map((cell) => shownOf(cell).trim()))
}

describe("the guide to webhooks", () => {
  it("shows the specification's schedule", () => {
    expect(rowsOf("Delivery")).toEqual([
      ["1", "at once", "0"],
      ["2", "30 seconds", "30 seconds"],
      ["3", "2 minutes", "2.5 minutes"],
      ["4", "10 minutes", "12.5 minutes"],
      ["5", "1 hour", "about 1.2 hours"],
      ["6", "6 hours", "about 7.2 hours"],
      ["7", "24 hours", "about 31.2 hours"],
    ])
  })

  it.each(Object.keys(EVENTS) as Array<EventType>)("shows an example of %s under its name", (type) => {
    const section = sectionOf(type)
    const example = JSON.parse(shownOf(/<pre[^>]*>(.*?)<\/pre>/s.exec(section)![1]!))
    expect(EVENTS[type].envelope.parse(example)).toEqual(eventExamples[type])
    const part = EVENTS[type].direction === "to_consumer" ? ["to-you", "to-us"] : ["to-us", "limits"]
    const [from, to] = part.map((id) => text.indexOf(`<h2 id="${id}">`))
    expect(text.indexOf(section)).toBeGreaterThan(from!)
    expect(text.indexOf(section)).toBeLessThan(to!)
  })

  it("has a section for each code of the verifier, with its cause and solution", () => {
    const surface = readFileSync(new URL("../../../../packages/webhook-verifier/api.d.ts", import.meta.url), "utf8")
    const [, union] = /^type WebhookVerificationErrorCode = (.*);$/m.exec(surface)!
    const codes = [...union!.matchAll(/"(\w+)"/g)].map(([, code]) => code)
    expect(codes.length).toBeGreaterThan(10)
    for (const code of codes) {
      expect(sectionOf(code!)).toMatch(/<strong>Cause<\/strong>: .+<\/li>\n<li><strong>What to do<\/strong>: .+<\/li>/)
    }
  })

  it("names every limit with the figure that this deployment has", () => {
    const figures = Object.fromEntries(rowsOf("Limits").map(([name, value]) => [name, value]))
    expect(figures).toMatchObject({
      Requests: "100 a minute for each key",
      "Failed authentication": "77 a minute for each address",
      "Page size": "1 to 500, default 100",
      Idempotency: "24 hours for each key",
      "Replay window": "5 minutes",
      Delivery: "7 attempts",
      "Recipients of one event": "500",
    })
  })
})
