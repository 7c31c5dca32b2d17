import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { describe, expect, it } from "vitest"
import type { Route as RouteOf } from "../src/http/Route.ts"
import { routes as consoleRoutes } from "../src/routes.ts"
import { controlOf } from "../src/view/inputs.ts"
import { type Answer, startConsole, type Visitor } from "./startConsole.ts"

// The database is empty at first. The table of routes is the console's, so that new lists and forms are tested as well.

const test = startConsole()
type Route = RouteOf<unknown>
const routes: ReadonlyArray<Route> = consoleRoutes
const pages = routes.filter(({ kind, params }) => kind === "page" && Object.keys(params).length === 0)

const emptySelectsOn = ({ document }: Answer) =>
  [...document.querySelectorAll("main select")].filter((select) =>
    [...select.querySelectorAll("option")].every((option) => option.getAttribute("value") === ""),
  )

/** Returns the links of empty states whose pages don't have the form that they name. */
const brokenLinksOn = async (visitor: Visitor, address: string, { document }: Answer) => {
  const links = [...document.querySelectorAll("main .empty a, main #steps a")]
  const faults: Array<string> = []
  for (const link of links) {
    const href = link.getAttribute("href")!
    const { pathname, search, hash } = new URL(href, `http://console${address}`)
    const target = await visitor.get(`${pathname}${search}`)
    const isThere = hash === "" || target.document.querySelector(`[id="${hash.slice(1)}"]`) !== null
    if (target.status !== 200 || !isThere) faults.push(`${address}: ${href}`)
  }
  return { faults, count: links.length }
}

describe("an empty database", { shuffle: false }, () => {
  it("shows no empty choice on any page, and links empty lists to the forms that fill them", async () => {
    const admin = await test().as("admin")
    const faults: Array<string> = []
    const linked: Array<string> = []
    for (const { path } of pages) {
      const answer = await admin.get(path)
      if (emptySelectsOn(answer).length > 0) faults.push(`${path} has an empty choice`)
      const found = await brokenLinksOn(admin, path, answer)
      faults.push(...found.faults)
      if (found.count > 0) linked.push(path)
    }
    expect(faults).toEqual([])
    expect(linked.sort()).toEqual([
      ...["/", "/campaigns", "/deliveries", "/endpoints", "/events", "/partners", "/programs", "/senders"],
      "/suppressions",
    ])
  })

  it("names the object to create first instead of each form that needs it", async () => {
    const admin = await test().as("admin")
    const needing = routes.flatMap(({ kind, path, inputs, params }) => {
      const isOfDatabase = Object.values(inputs).some((input) => {
        const { kind, options, required } = controlOf(input) ?? {}
        return kind === "choice" && options === undefined && required
      })
      const isForm = kind === "action" && Object.keys(params).length === 0 && !("typed" in inputs)
      return isForm && isOfDatabase ? [path] : []
    })
    const shown = needing.map(async (path) => {
      const { document } = await admin.get(path.slice(0, path.lastIndexOf("/")))
      const forms = document.querySelectorAll(`form[action="${path}"]`)
      return [path, forms.length, document.querySelector("#new .empty")?.textContent]
    })
    const organization = "There is no organization to choose. Add the organization"
    expect((await Promise.all(shown)).sort()).toEqual([
      ["/campaigns/new", 0, "There is no program to choose. Add the program"],
      ["/endpoints/new", 0, organization],
      ["/programs/new", 0, organization],
      ["/senders/new", 0, organization],
    ])
  })

  it("shows the steps to the first campaign, with the next one as a button for roles that may do it", async () => {
    const stepsOf = async (visitor: Visitor) => {
      const { document } = await visitor.get("/")
      const next = document.querySelector("#steps a.primary")
      return { next: next?.getAttribute("href"), words: document.querySelector("#steps")!.textContent }
    }
    const [admin, viewer] = [await test().as("admin"), await test().as("viewer")]
    expect(await stepsOf(admin)).toMatchObject({ next: "/partners#new" })
    const seen = await stepsOf(viewer)
    expect(seen).toEqual({
      next: undefined,
      words: expect.stringContaining("Add the organization: requires the role admin"),
    })

    const { id } = await test().run(createOrganization("Acme Health"))
    expect(await stepsOf(admin)).toMatchObject({ next: `/partners/${id}#keys` })
    const page = await admin.get(`/partners/${id}`)
    expect(emptySelectsOn(page)).toEqual([])
    const { count, faults } = await brokenLinksOn(admin, `/partners/${id}`, page)
    expect(faults).toEqual([])
    expect(count).toBeGreaterThan(2)
    // The partner sees no links to pages of the staff.
    const partner = await test().as("partner", id)
    expect((await brokenLinksOn(partner, "/endpoints", await partner.get("/endpoints"))).count).toBe(0)

    await test().run(seedCampaign({ recipients: 0 }))
    expect((await admin.get("/")).document.querySelector("#steps")).toBeNull()
  })
})
