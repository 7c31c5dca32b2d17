import type { Operator } from "@outreach/domain/operators/Operator"
import { parseHTML } from "linkedom"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { expect, it } from "vitest"
import { type Columns, Table } from "../../src/components/layout.tsx"
import { Id, Time } from "../../src/components/values.tsx"
import { ViewContext } from "../../src/view/View.ts"

const view = {
  operator: { role: "admin" } as Operator,
  formToken: "",
  now: 0,
  page: "/endpoints",
  deployment: "staging",
}
const render = (element: VNode) =>
  parseHTML(
    `<html><body>${renderToString(<ViewContext.Provider value={view}>{element}</ViewContext.Provider>)}</body></html>`,
  ).document

const ID = "whe_0123456789abcdef0123456789abcdef"

it("an id is whole for who selects or hears it, and a button copies it", () => {
  const document = render(<Id>{ID}</Id>)
  expect(document.body.textContent).toBe(ID)
  expect(document.querySelector("code span")!.textContent).toBe("0123456789abcdef0123456789")
  expect(document.querySelector("button")!.getAttribute("data-copy")).toBe(ID)
})

const rows = [{ calls: 2 }]
type Row = (typeof rows)[number]

it("a time has its exact value, and is near for a day", () => {
  const times = ["1970-01-01T23:59:59.9Z", "1970-01-02T00:00:00Z"].map(
    (at) => render(<Time at={at} />).querySelector("time")!,
  )
  expect(times.map(({ title }) => title)).toEqual(["1970-01-01 23:59:59 UTC", "1970-01-02 00:00:00 UTC"])
  expect(times.map(({ className }) => className)).toEqual(["near", ""])
})

it("a closed card has the first state, text and time of its row, and a part that opens it", () => {
  const at = "2026-11-01T12:00:00Z"
  const columns: Columns<Row> = {
    Name: () => ({ id: ID, name: "a" }),
    Calls: { number: ({ calls }) => calls },
    Ended: () => ({ at: null }),
    State: () => ({ tone: "bad", word: "open" }),
    Owner: () => ({ id: ID, name: "b" }),
    Kind: () => ({ id: ID, name: "c" }),
    Since: () => ({ at }),
  }
  const document = render(<Table label="Endpoints" rows={rows} columns={columns} />)
  const parts = [...document.querySelectorAll("[data-part]")].map((cell) => cell.getAttribute("data-part"))
  expect(parts).toEqual(["count", "state", "text", "time"])
  expect(document.querySelectorAll("td:first-child > details > summary[aria-label]")).toHaveLength(1)
})

it("a table has the header of each cell for cards, unless it is short or of numbers", () => {
  const labels = (columns: Columns<Row>) =>
    [...render(<Table label="Endpoints" rows={rows} columns={columns} />).querySelectorAll("td")].map((cell) =>
      cell.getAttribute("data-label"),
    )
  const count = { number: ({ calls }: Row) => calls }
  expect(labels({ Name: () => "a", State: () => "open", Calls: count })).toEqual(["Name", "State", "Calls"])
  expect(labels({ Day: () => "a", Calls: count, Failed: count, Late: count })).toEqual([null, null, null, null])
  expect(labels({ Name: () => "a", State: () => "open" })).toEqual([null, null])
})
