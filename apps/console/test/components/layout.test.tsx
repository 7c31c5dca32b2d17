import type { Operator } from "@outreach/domain/operators/Operator"
import { parseHTML } from "linkedom"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { expect, it } from "vitest"
import { type Columns, Table } from "../../src/components/layout.tsx"
import { Id } from "../../src/components/values.tsx"
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
