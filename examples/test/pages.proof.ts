import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { projectServer, run, workspaceWith } from "./exampleProject.ts"

interface Invoice {
  readonly id: number
  readonly due_on: string | null
}
interface Page {
  readonly data: ReadonlyArray<Invoice>
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly previous_cursor: string | null
  readonly total?: number
}
type Query = Readonly<Record<string, string | number>>

const server = projectServer(workspaceWith("cursor"), "pages", {
  prepare: async (project) => {
    await run(project, ["npm", "run", "check"])
    return { CURSOR_KEY: "32 bytes that are random elsewhere", DATABASE: join(project, "invoices.db") }
  },
})

const listOf = (customer: string) => `${server.url}/customers/${customer}/invoices`
async function read<A = Page>(customer: string, query: Query = {}, status = 200): Promise<A> {
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`])
  const response = await fetch(`${listOf(customer)}?${new URLSearchParams(pairs)}`)
  expect(response.status).toBe(status)
  return (await response.json()) as A
}
async function add(customer: string, day: number): Promise<Invoice> {
  const due_on = day === 0 ? null : `2026-12-0${day}`
  const response = await fetch(listOf(customer), { method: "POST", body: JSON.stringify({ due_on, cents: 4200 }) })
  expect(response.status).toBe(201)
  return { ...((await response.json()) as { id: number }), due_on }
}
const remove = (customer: string, { id }: Invoice) => fetch(`${listOf(customer)}/${id}`, { method: "DELETE" })

/** The order of the list, implemented differently than in the server. */
const inOrder = (invoices: Iterable<Invoice>) =>
  [...invoices].sort((a, b) => {
    const [one, other] = [a.due_on ?? "9999", b.due_on ?? "9999"]
    return one < other ? -1 : one > other ? 1 : b.id - a.id
  })
const idsOf = (invoices: Iterable<Invoice>) => [...invoices].map(({ id }) => id)

describe("the pages of examples/pages", () => {
  it.each(["after", "before"] as const)(
    "include every invoice that stays exactly once, while others come and go, by %s",
    async (way) => {
      const customer = `busy-${way}`
      const stay: Invoice[] = []
      let others: Invoice[] = []
      for (let i = 0; i < 60; i++) (i % 2 ? stay : others).push(await add(customer, (i * 7) % 4))
      const seen: Invoice[] = []
      let page = await read(customer, { limit: 3, ...(way === "before" && { before: "end" }) })
      for (let turn = 0; ; turn++) {
        if (way === "after") seen.push(...page.data)
        else seen.unshift(...page.data)
        const cursor = way === "after" ? page.next_cursor : page.previous_cursor
        if (cursor === null) break
        for (let i = 0; i < 3; i++) others.push(await add(customer, (turn + i) % 4))
        // Including the first and last invoice of the page, where the next page starts.
        const edges = [page.data[0]?.id, page.data.at(-1)?.id]
        const gone = others.filter(({ id }) => id % 4 === turn % 4 || edges.includes(id))
        for (const invoice of gone) await remove(customer, invoice)
        others = others.filter((invoice) => !gone.includes(invoice))
        page = await read(customer, { limit: 3, [way]: cursor })
      }
      expect(new Set(idsOf(seen)).size).toBe(seen.length)
      expect(idsOf(seen)).toEqual(idsOf(inOrder(seen)))
      const stayed = new Set(idsOf(stay))
      expect(idsOf(seen).filter((id) => stayed.has(id))).toEqual(idsOf(inOrder(stay)))
    },
  )

  it("have the number of the customer's invoices on every page that asks for it", async () => {
    for (let i = 0; i < 3; i++) await add("counted", i)
    const first = await read("counted", { limit: 2, total: "true" })
    const second = await read("counted", { limit: 2, after: first.next_cursor!, total: "true" })
    expect([first.total, second.total, (await read("counted")).total]).toEqual([3, 3, undefined])
  })

  it("reject a cursor of another customer, an altered one, two, and a limit that isn't valid", async () => {
    for (let i = 0; i < 3; i++) await add("one", i)
    const { next_cursor } = await read("one", { limit: 1 })
    const errorOf = async (customer: string, query: Query) =>
      (await read<{ readonly error: string }>(customer, query, 400)).error
    expect(await errorOf("two", { after: next_cursor! })).toBe("not_authentic")
    expect(await errorOf("one", { after: `${next_cursor!.slice(0, -2)}AA` })).toMatch(/^(not_authentic|malformed)$/)
    expect(await errorOf("one", { before: "1" })).toBe("malformed")
    expect(await errorOf("one", { after: next_cursor!, before: "end" })).toBe("give after or before, not both")
    for (const limit of ["0", "101", "NaN", "1.5", "-1"]) await errorOf("one", { limit })
  })
})
