import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { installProject, missingRegistry, type ProjectServer, packTarball, run, startServer } from "./exampleProject.ts"

interface Invoice {
  readonly id: number
  readonly due_on: string | null
}
interface Page {
  readonly data: ReadonlyArray<Invoice>
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly previous_cursor: string | null
}

let folder: string
let missing: string | undefined
let server: ProjectServer | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-pages-"))
  missing = await missingRegistry(folder)
  if (missing !== undefined) return
  await packTarball(folder, "cursor")
  const project = await installProject(folder, "pages")
  await run(project, ["npm", "run", "check"])
  server = await startServer(project, {
    CURSOR_KEY: "32 bytes that are random elsewhere",
    DATABASE: join(project, "invoices.db"),
  })
})
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing)
})

const listOf = (customer: string) => `${server?.url}/customers/${customer}/invoices`
const get = (customer: string, query: Record<string, string | number>) =>
  fetch(
    `${listOf(customer)}?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]))}`,
  )
async function read(customer: string, query: Record<string, string | number> = {}): Promise<Page> {
  const response = await get(customer, query)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}
async function add(customer: string, day: number): Promise<Invoice> {
  const due_on = day === 0 ? null : `2026-12-0${day}`
  const response = await fetch(listOf(customer), { method: "POST", body: JSON.stringify({ due_on, cents: 4200 }) })
  expect(response.status).toBe(201)
  return { ...((await response.json()) as { id: number }), due_on }
}
const remove = (customer: string, { id }: Invoice) => fetch(`${listOf(customer)}/${id}`, { method: "DELETE" })

/** The order of the list, written another way than the server's. */
const inOrder = (invoices: Iterable<Invoice>) =>
  [...invoices].sort((a, b) => {
    const [one, other] = [a.due_on ?? "9999", b.due_on ?? "9999"]
    return one < other ? -1 : one > other ? 1 : b.id - a.id
  })
const idsOf = (invoices: Iterable<Invoice>) => [...invoices].map(({ id }) => id)

/** Returns numbers below a limit, the same ones in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

describe("the pages of examples/pages", () => {
  it("go on to the end and back again, each the same from both sides", async () => {
    const customer = "calm"
    const all: Invoice[] = []
    for (let i = 0; i < 23; i++) all.push(await add(customer, i % 4))
    const pages = [await read(customer, { limit: 5 })]
    expect(pages[0]!.previous_cursor).toBeNull()
    for (let next = pages[0]!.next_cursor; next !== null; next = pages.at(-1)!.next_cursor) {
      pages.push(await read(customer, { limit: 5, after: next }))
    }
    expect(idsOf(pages.flatMap(({ data }) => data))).toEqual(idsOf(inOrder(all)))
    expect(pages.map(({ data, has_more }) => [data.length, has_more])).toEqual([
      [5, true],
      [5, true],
      [5, true],
      [5, true],
      [3, false],
    ])
    for (let i = pages.length - 1; i > 0; i--) {
      const previous = await read(customer, { limit: 5, before: pages[i]!.previous_cursor! })
      expect(previous.data).toEqual(pages[i - 1]!.data)
      expect(previous.previous_cursor === null).toBe(i === 1)
    }
    expect(idsOf((await read(customer, { limit: 3, before: "end" })).data)).toEqual(idsOf(pages[4]!.data))
  })

  it.each([1, 2, 3, 4, 5])(
    "miss no invoice that was there the whole time, and hold none twice, while others come and go (%i)",
    async (seed) => {
      const customer = `busy${seed}`
      const random = numbers(seed)
      const stay: Invoice[] = []
      let others: Invoice[] = []
      for (let i = 0; i < 60; i++) (i % 2 ? stay : others).push(await add(customer, random(4)))
      const disturb = async (edges: ReadonlyArray<Invoice | undefined>) => {
        for (let i = 0; i < 3; i++) others.push(await add(customer, random(4)))
        // Among others the invoice at which the next page begins.
        const gone = others.filter(({ id }) => random(4) === 0 || edges.some((edge) => edge?.id === id))
        for (const invoice of gone) await remove(customer, invoice)
        others = others.filter((invoice) => !gone.includes(invoice))
      }
      for (const [way, first] of [
        ["after", {}],
        ["before", { before: "end" }],
      ] as const) {
        const limit = 2 + random(4)
        const seen: Invoice[] = []
        let page = await read(customer, { limit, ...first })
        let count = 0
        for (;;) {
          expect(page.data.length).toBeLessThanOrEqual(limit)
          if (way === "after") seen.push(...page.data)
          else seen.unshift(...page.data)
          const cursor = way === "after" ? page.next_cursor : page.previous_cursor
          if (cursor === null) break
          await disturb([page.data[0], page.data.at(-1)])
          page = await read(customer, { limit, [way]: cursor })
          count++
        }
        expect(count).toBeGreaterThan(5)
        expect(new Set(idsOf(seen)).size).toBe(seen.length)
        expect(idsOf(seen)).toEqual(idsOf(inOrder(seen)))
        const stayed = new Set(idsOf(stay))
        expect(idsOf(seen).filter((id) => stayed.has(id))).toEqual(idsOf(inOrder(stay)))
      }
    },
  )

  it("refuse a cursor of another customer, an altered one, two, and a limit that is none", async () => {
    for (let i = 0; i < 3; i++) await add("one", i)
    const { next_cursor } = await read("one", { limit: 1 })
    const errorOf = async (customer: string, query: Record<string, string | number>) => {
      const response = await get(customer, query)
      expect(response.status).toBe(400)
      return ((await response.json()) as { error: string }).error
    }
    expect(await errorOf("two", { after: next_cursor! })).toBe("not_authentic")
    expect(await errorOf("one", { after: `${next_cursor!.slice(0, -2)}AA` })).toMatch(/^(not_authentic|malformed)$/)
    expect(await errorOf("one", { before: "1" })).toBe("malformed")
    expect(await errorOf("one", { after: next_cursor!, before: "end" })).toBe("give after or before, not both")
    for (const limit of ["0", "101", "NaN", "1.5", "-1"]) await errorOf("one", { limit })
  })
})
