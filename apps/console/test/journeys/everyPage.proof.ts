import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { PROPERTY_RUNS } from "@outreach/testing/propertyRuns"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { chrome, overhang, violations as violationsAsShown } from "@outreach/testing/startBrowser"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { routes } from "../../src/routes.ts"
import { findPages } from "../findPages.ts"
import { seedOrganization } from "../seedOrganization.ts"
import { startConsole } from "../startConsole.ts"
import { openBrowser, SCREENS, violations } from "./openBrowser.ts"
import { unreachable } from "./unreachable.ts"

/** The folder for a picture of each page. None by default. */
const SCREENSHOTS = process.env["SCREENSHOTS"]

/** Buttons with a page as the response, by the page of the button. */
const ANSWERS = [
  ["/people/:id", "Show NPI and addresses"],
  ["/suppressions", "Show NPIs and addresses"],
  ["/deliveries/:delivery", "Show the body and the responses"],
  ["/endpoints/:endpoint", "Send a test event"],
  ["/partners/:organization", "Rotate secret"],
] as const

const isNightly = PROPERTY_RUNS > 25
const PHONE_WIDTH = 390
/** The narrowest screen of WCAG 2.2, 1.4.10, and a desktop. Only the nightly run checks more than the width of a common phone, and pages with errors. */
const WIDTHS = isNightly ? [320, PHONE_WIDTH, 1440] : [320, 1440]

/** The sets of colours other than light. */
const COLOURS = { dark: { colorScheme: "dark" }, forced: { forcedColors: "active" } } as const

const test = startConsole()
const open = openBrowser(test)
let found: ReadonlyMap<string, string>
let pages: ReadonlyMap<string, string>

/** Adds 40 days of counts for the charts, and long texts for the tables. */
const seedPast = ({ ids }: Effect.Success<ReturnType<typeof seedOrganization>>) =>
  Effect.all([
    sql`update organizations set name = 'Northwind Heart Institute of Greater Springfield' where id = ${ids.organization}`,
    sql`update programs set learner_target = 400, completer_target = 200 where id = ${ids.program}`,
    sql`
        insert into digest_outreach (
          organization_id, program_id, date, recipients_published, sent, bounced, opened, clicked, unique_opened, unique_clicked)
        select ${ids.organization}, ${ids.program}, (now() at time zone 'utc')::date - n, 300, 140 + 37 * n, n, 3 * n, n, 2 * n, n
        from generate_series(1, 40) n`,
    sql`
        insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
          account_created_total, learner_qualified_total, completer_qualified_total)
        select ${ids.organization}, ${ids.program}, (now() at time zone 'utc')::date - n, 9, 6, 2, 9 * (41 - n), 6 * (41 - n), 2 * (41 - n)
        from generate_series(1, 40) n`,
    sql`
        insert into campaign_counts (
          organization_id, campaign_id, hour, published, sent, bounced, opened, unsuspected_opened, complained, unsubscribed)
        select ${ids.organization}, ${ids.campaign}, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 110, 100, 1, 50, 30, 0, 1
        from generate_series(1, 48) n`,
    sql`
        insert into campaign_domains (organization_id, campaign_id, domain, sent, mailbox_not_found, last_reply, last_reply_at)
        values (${ids.organization}, ${ids.campaign}, 'university.test', 90, 10,
          '550 5.7.1 Message refused by policy, see https://postmaster.hospital.test/why', now())`,
  ])

/** A paused campaign, and a draft with a disabled endpoint. */
const seedStates = Effect.gen(function* () {
  const { campaign } = yield* seedCampaign({ recipients: 2, opensIn: 3600 })
  yield* scheduleCampaign(campaign.id)
  yield* commandCampaign(campaign.id, "pause", { stoppedBy: "Dana Reyes", stopReason: "the link is wrong" })
  const draft = yield* seedCampaign({ recipients: 2, opensIn: 3600 })
  yield* EndpointRepository.use(({ disable }) => disable(draft.endpoint.id))
})

beforeAll(async () => {
  const seeded = await test().run(Effect.tap(seedOrganization("northwind.test"), seedPast))
  const { ids } = seeded
  const from = { organization: { id: ids.organization }, endpoint: { id: ids.endpoint } }
  // The inbound event of an unknown program is quarantined, and another one waits.
  const receive = Effect.andThen(applyBatch(ids.organization), receiveEvent(from, "evt_waits", "clinician.moved", {}))
  await test().run(Effect.andThen(seedStates, receive))
  const admin = await test().as("admin")
  // Fills the audit log.
  await admin.post("/find", { search: seeded.personal[1]! })
  found = await findPages(admin)
  pages = new Map([
    ...found,
    ...["html", "phone", "text"].map((view) => {
      const address = `/campaigns/${ids.campaign}/mail?view=${view}`
      return [view === "html" ? "/campaigns/:campaign/mail" : `/campaigns/:campaign/mail/${view}`, address] as const
    }),
  ])
})

it("every page is linked from the first page, directly or through other pages", () => {
  const paths = routes.filter(({ kind }) => kind === "page").map(({ path }) => path)
  expect(paths.filter((path) => !found.has(path))).toEqual([])
})

describe.skipIf("missing" in chrome)("every page in a browser", () => {
  it.each(WIDTHS)(
    "fits %i px and violates no rule of accessibility in all colours, in the nightly run also with errors",
    async (width) => {
      const { page, complaints } = await open("admin", { screen: { viewport: { width, height: 900 } } })
      const faults: Array<Fault> = []
      for (const [path, address] of pages) {
        await page.goto(address)
        faults.push(...(await faultsOf(page, path)))
        // A phone; a tablet, and the desktop at 200 % zoom.
        for (const other of width < 1000 ? [PHONE_WIDTH] : [1024, 720]) {
          await page.setViewportSize({ width: other, height: 900 })
          faults.push(...(await overhangOf(page, path)))
        }
        await page.setViewportSize({ width, height: 900 })
        if (isNightly && (await submitInvalid(page))) faults.push(...(await faultsOf(page, `${path} with errors`)))
      }
      expect(faults).toEqual([])
      expect(complaints.filter((complaint) => !/400|does not conform/.test(complaint))).toEqual([])
    },
  )

  it("fits and is accessible as the response to a form, and as a sign-in page", async () => {
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
    await page.getByRole("button", { name: "Menu" }).click()
    await page.getByRole("link", { name: "Today" }).waitFor()
    await look("the menu")
    await page.context().clearCookies()
    for (const path of ["/sign-in", "/sign-in/none", "/campaigns"]) {
      await page.goto(path)
      await look(path)
    }
    expect(faults).toEqual([])
    expect(complaints.filter((complaint) => !complaint.includes("410"))).toEqual([])
  })

  it("lets the Tab key reach every control, and shows the focus", async () => {
    const { page } = await open("admin")
    // A list that is refreshed in between would lose its focus.
    await page.route("**/*", (route) => (route.request().resourceType() === "fetch" ? route.abort() : route.continue()))
    const faults: Array<readonly [address: string, fault: unknown]> = []
    for (const [path, address] of pages) {
      await page.goto(address)
      const missed = await unreachable(page)
      if (missed.length > 0) faults.push([path, missed])
    }
    expect(faults).toEqual([])
  })
})

type Fault = readonly [name: string, ...found: ReadonlyArray<unknown>]

const overhangOf = async (page: Page, name: string): Promise<ReadonlyArray<Fault>> => {
  const px = await overhang(page)
  return px > 0 ? [[name, `${px} px wider than ${page.viewportSize()!.width} px`]] : []
}

/** Checks a page as it is loaded, and with all parts open. Only the rules about colours are checked again in other colours. */
const faultsOf = async (page: Page, name: string): Promise<ReadonlyArray<Fault>> => {
  const { width } = page.viewportSize()!
  const faults = [...(await overhangOf(page, name))]
  const add = (state: string, broken: ReadonlyArray<unknown>) =>
    broken.length > 0 && faults.push([name, state, ...broken])
  await picture(page, `${width}-closed`, name)
  // The cards of a narrow screen differ until they are opened.
  if ((await page.locator(".cards .more").filter({ visible: true }).count()) > 0)
    add("closed", await violationsAsShown(page))
  add("open", await violations(page))
  faults.push(...(await overhangOf(page, `${name}, open`)))
  for (const [colours, media] of Object.entries(COLOURS)) {
    await page.emulateMedia(media)
    await picture(page, `${width}-${colours}`, name)
    add(colours, await violations(page, ["color-contrast", "link-in-text-block"]))
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" })
  return faults
}

const FIELDS = "input:not([type=hidden], [type=checkbox], [type=file]), textarea"

/** Submits a form of a page with a character that no input may contain. Returns false if the page has no form with a field. */
const submitInvalid = async (page: Page): Promise<boolean> => {
  for (const method of ["post", "get"]) {
    const form = page.locator(`main form[method=${method}]:has(${FIELDS})`).first()
    if ((await form.count()) === 0) continue
    const submit = form.evaluate((form: HTMLFormElement, fields) => {
      for (const field of form.querySelectorAll<HTMLInputElement>(fields)) {
        delete field.dataset["instant"]
        if (field instanceof HTMLInputElement) field.type = "text"
        field.value = "typed\0text"
      }
      form.submit()
    }, FIELDS)
    await Promise.all([page.waitForEvent("load"), submit])
    expect(await page.locator("form.rejected").count(), `rejected form of ${page.url()}`).toBe(1)
    return true
  }
  return false
}

const picture = async (page: Page, folder: string, path: string): Promise<void> => {
  if (SCREENSHOTS === undefined) return
  mkdirSync(join(SCREENSHOTS, folder), { recursive: true })
  const file = `${path.slice(1).replaceAll(/[/:]+/g, "-") || "today"}.png`
  await page.screenshot({ path: join(SCREENSHOTS, folder, file), fullPage: true })
}
