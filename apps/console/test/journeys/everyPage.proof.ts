import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { routes } from "../../src/routes.ts"
import { findPages } from "../findPages.ts"
import { startConsole } from "../startConsole.ts"
import { chrome, openBrowser, overhang, SCREENS, violations } from "./openBrowser.ts"
import { seedDeployment } from "./seedDeployment.ts"
import { unreachable } from "./unreachable.ts"

/** The folder into which a picture of each page is written; none by default. */
const SCREENSHOTS = process.env["SCREENSHOTS"]

/** Buttons whose answer is a page, by the page on which they stand. */
const ANSWERS = [
  ["/people/:id", "Show NPI and addresses"],
  ["/suppressions", "Show NPIs and addresses"],
  ["/deliveries/:delivery", "Show the body and the responses"],
  ["/endpoints/:endpoint", "Send a test event"],
  ["/digest", "Verify"],
  ["/partners/:organization", "Rotate secret"],
] as const

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const open = openBrowser(test)
const ends: Array<() => Promise<void>> = []
let found: ReadonlyMap<string, string>
let pages: ReadonlyMap<string, string>
beforeAll(async () => {
  const { organization, endpoint, campaign } = await seedDeployment(test(), (end) => ends.push(end))
  const admin = await test().as("admin")
  // What the audit log and the replay jobs show.
  await admin.post("/find", { search: "clinician0@clinic.test" })
  await admin.post("/dead-letters/replay", { status: "404", rate: "100" })
  found = await findPages(admin)
  pages = new Map([
    ...found,
    // Of those that were found, the ones with most to show.
    ["/digest", `/digest?organization=${organization.id}`],
    ["/partners/:organization", `/partners/${organization.id}`],
    ["/endpoints/:endpoint", `/endpoints/${endpoint.id}`],
    ["/campaigns/:campaign", `/campaigns/${campaign.id}`],
    ...["html", "phone", "text"].map((view) => {
      const address = `/campaigns/${campaign.id}/mail?view=${view}`
      return [view === "html" ? "/campaigns/:campaign/mail" : `/campaigns/:campaign/mail/${view}`, address] as const
    }),
  ])
})
afterAll(() => Promise.all(ends.map((end) => end())))

it("leads to every page by links from the first", () => {
  const paths = routes.filter(({ kind }) => kind === "page").map(({ path }) => path)
  expect(paths.filter((path) => !found.has(path))).toEqual([])
})

describe.skipIf("missing" in chrome)("in a browser", () => {
  it.each(Object.entries(SCREENS))(
    "every page stands on a %s, light and dark, without a fault",
    async (name, screen) => {
      const { page, complaints } = await open("admin", { screen })
      const faults: Array<readonly [address: string, fault: unknown]> = []
      for (const [path, address] of pages) {
        await page.emulateMedia({ colorScheme: "light" })
        await page.goto(address)
        await picture(page, `${name}-light`, path)
        const wider = await overhang(page)
        if (wider > 0) faults.push([path, `${wider} px wider than the screen`])
        const broken = await violations(page)
        await page.emulateMedia({ colorScheme: "dark" })
        await picture(page, `${name}-dark`, path)
        // The colours alone are others.
        broken.push(...(await violations(page, ["color-contrast"])))
        if (broken.length > 0) faults.push([path, broken])
      }
      expect(faults).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  it("stands without a fault where a page answers what was sent, or asks to sign in", async () => {
    const { page, complaints } = await open("admin", { screen: SCREENS["phone"]! })
    const faults: Array<readonly [name: string, fault: unknown]> = []
    const look = async (name: string) => {
      await page.getByRole("heading", { level: 1 }).waitFor()
      const wider = await overhang(page)
      if (wider > 0) faults.push([name, `${wider} px wider than the screen`])
      const broken = await violations(page)
      if (broken.length > 0) faults.push([name, broken])
    }
    for (const [path, label] of ANSWERS) {
      await page.goto(pages.get(path)!)
      await page.getByRole("button", { name: label }).first().click()
      await page.waitForLoadState()
      await look(label)
    }
    await page.context().clearCookies()
    for (const path of ["/sign-in", "/campaigns"]) {
      await page.goto(path)
      await look(path)
    }
    expect(faults).toEqual([])
    expect(complaints).toEqual([])
  })

  it("reaches every control of every page with the Tab key, and shows which one has the focus", async () => {
    const { page } = await open("admin")
    const faults: Array<readonly [address: string, fault: unknown]> = []
    for (const [path, address] of pages) {
      await page.goto(address)
      const missed = await unreachable(page)
      if (missed.length > 0) faults.push([path, missed])
    }
    expect(faults).toEqual([])
  })
})

/** Writes a picture of the whole page. */
const picture = async (page: Page, folder: string, path: string): Promise<void> => {
  if (SCREENSHOTS === undefined) return
  mkdirSync(join(SCREENSHOTS, folder), { recursive: true })
  const file = `${path.slice(1).replaceAll(/[/:]+/g, "-") || "today"}.png`
  await page.screenshot({ path: join(SCREENSHOTS, folder, file), fullPage: true })
}
