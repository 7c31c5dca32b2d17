import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { SuppressionRepository } from "@outreach/domain/suppressions/Withdrawals"
import { email, npi, publishSent } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import type { Route as RouteOf } from "../src/http/Route.ts"
import { routes as consoleRoutes } from "../src/routes.ts"
import { contentsOf } from "./contentsOf.ts"
import { addressOf, type Seeded, seedOrganization } from "./seedOrganization.ts"
import { startConsole, type TestConsole, type Visitor } from "./startConsole.ts"
import { startMailServer } from "./startMailServer.ts"

// The table of routes is the console's, so that new actions are tested as well.

type Route = RouteOf<unknown>
const routes: ReadonlyArray<Route> = consoleRoutes
const pages = routes.filter(({ kind, path }) => kind === "page" && path !== "/")
/** The forms of an import follow each other; see imports.test.ts. A preview has no form and no command; see draft.test.ts. */
const actions = routes.filter(
  ({ kind, path, command }) => kind === "action" && !path.includes("/imports/") && command !== undefined,
)

// Before the console starts, because the console reads a file of it.
const mail = startMailServer()
const test = startConsole(mail.settings)

type Services = Parameters<TestConsole["run"]>[0] extends Effect.Effect<unknown, unknown, infer R> ? R : never

let organizations = 0
const seed = async () => {
  const seeded = await test().run(seedOrganization(`partner${++organizations}.test`))
  const { organization } = seeded.ids
  await test().run(
    OrganizationRepository.use(({ setContacts }) => setContacts(organization, ["ann@acme.example" as never])),
  )
  return seeded
}

/** Creates the state that an action requires, by its path. */
const PREPARATIONS: Readonly<Record<string, (seeded: Seeded) => Effect.Effect<unknown, unknown, Services>>> = {
  "/campaigns/:campaign/schedule": ({ campaign: { id } }) => commandCampaign(id, "pause"),
  "/campaigns/:campaign/resume": ({ campaign: { id } }) => commandCampaign(id, "pause"),
  "/programs/:program/archive": ({ campaign: { id } }) => commandCampaign(id, "cancel"),
  "/endpoints/:endpoint/enable": ({ ids: { endpoint } }) => EndpointRepository.use(({ disable }) => disable(endpoint)),
  "/issues/:group/unmute": ({ ids: { group } }) => DeliveryRepository.use(({ mute }) => mute(group as never, "known")),
  "/dead-letters/replay": ({ ids: { replay } }) => ReplayJobQueue.use(({ cancel }) => cancel(replay)),
  "/inbox/replay": ({ ids: { organization } }) => applyBatch(organization),
  "/inbox/:event/replay": ({ ids: { organization } }) => applyBatch(organization),
  "/people/:id/lift": Effect.fnUntraced(function* ({ ids: { organization, id } }) {
    const [person] = yield* sql<{ npi: never; email: never }>`select npi, email from recipients where id = ${id}`
    yield* SuppressionRepository.use(({ add }) => add(organization, [{ programId: null, ...person! }], "operator"))
  }),
}

/** Actions that can't be undone. Their forms require that a word is typed. */
const WITH_A_WORD = [
  "/campaigns/:campaign/cancel",
  "/endpoints/:endpoint/remove",
  "/issues/:group/remove",
  "/keys/:key/revoke",
  "/operators/:operator/remove",
  "/people/:id/erase",
  "/secrets/:secret/revoke",
  "/senders/:sender/remove",
  "/senders/link-domain/remove",
]
/** Actions whose forms require it only if a check fails. */
const IF_A_CHECK_FAILS = ["/campaigns/:campaign/schedule", "/campaigns/:campaign/resume"]

/** Actions that require a fresh organization, or leave one that other actions can't use. */
const APART = new Set([
  ...Object.keys(PREPARATIONS),
  ...WITH_A_WORD,
  "/deliveries/:delivery/retry",
  "/endpoints/:endpoint/retry",
  "/issues/:group/retry",
  "/deliveries/replay",
  "/replays/:replay/cancel",
  "/operators/:operator/sign-out",
  "/endpoints/:endpoint/disable",
])

/** Seeds a delivery that waits for its next attempt. */
const waitingDelivery = Effect.fnUntraced(function* ({ ids, campaign }: Seeded) {
  const { take, settle } = yield* workerOn()
  yield* publishSent(campaign, 1)
  const taken = (yield* take()).filter(({ endpointId }) => endpointId === ids.endpoint)
  yield* settle(taken, { settlement: "retry", delay: 3600 }, 503)
  return taken[0]!.id
})

/** Personal values that no log may contain. */
const PERSONAL = { to: "me@acme.test", search: npi(0), npi: npi(901), email: email(901), contact: "bob@acme.example" }

/** Values of the inputs whose forms show none. */
const TYPED: Readonly<Record<string, string>> = {
  ...PERSONAL,
  reason: "the partner asked for it",
  name: "Nightly sync",
  scopes: "events:read",
  "per-second": "7",
  "per-minute": "60",
  date: "2026-11-01",
  slug: "nightly",
  from: "Acme Health <outreach@acme.test>",
  subject: "An invitation",
  html: "<p>Begin at https://l.test/{{ token }}</p>",
  "window-start": "2099-03-01T09:00:00Z",
  "window-end": "2099-03-02T09:00:00Z",
}

/** Values that differ from those that a form shows. */
const CHANGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/campaigns/:campaign/rate": { "per-minute": "60" },
  "/campaigns/:campaign/edit": { "per-minute": "61" },
  "/campaigns/:campaign/complaints": { "pause-on-complaints": "yes" },
  "/endpoints/new": { url: "https://hooks.acme.test/nightly" },
  "/endpoints/:endpoint/update": { "per-second": "7" },
  "/partners/:organization/limit": { "max-endpoints": "7" },
  "/partners/:organization/contacts": { contact: PERSONAL.contact },
}

/** Rejected because no name server knows the records. */
const REJECTED = ["/senders/:sender/verify"]

/** The query without which a page has no form. */
const QUERIES: Readonly<Record<string, string>> = {
  "/endpoints/:endpoint/replay": "from=2026-01-01T00:00:00Z&to=2099-01-01T00:00:00Z",
}

type Things = Pick<Seeded, "ids" | "published">

const formFor = (document: Document, action: Route, things: Things): Element | null =>
  document.querySelector(`form[method=post][action="${addressOf(action, things).split("?")[0]}"]`)

const open = (visitor: Visitor, page: Route, things: Things) =>
  visitor.get([addressOf(page, things), QUERIES[page.path] ?? ""].join("&"))

/** Finds the form of an action. Tries the page where the first organization has it, then pages with similar paths. */
const findForm = async (visitor: Visitor, action: Route, things: Things): Promise<Element> => {
  const isNear = (page: Route) =>
    page === shown.get(action.path)?.page ? 1000 : Number(action.path.startsWith(page.path)) * page.path.length
  for (const page of pages.toSorted((a, b) => isNear(b) - isNear(a))) {
    const form = formFor((await open(visitor, page, things)).document, action, things)
    if (form !== null) return form
  }
  throw new Error(`No page of a seeded organization has a form for ${action.path}.`)
}

/** Returns the values of a form as a person fills it in. */
const fill = (form: Element, changed: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const values: Record<string, string> = {}
  for (const input of form.querySelectorAll("input, select, textarea")) {
    const name = input.getAttribute("name")!
    const option = input.querySelector("option[selected]") ?? input.querySelector("option")
    const isBox = input.getAttribute("type") === "checkbox"
    const shown = option?.getAttribute("value") ?? (isBox ? "" : input.getAttribute("value")) ?? ""
    const label = input.closest("label")?.querySelector("span")?.textContent ?? ""
    const value = name === "typed" ? label.slice("Type ".length) : (changed[name] ?? (shown || (TYPED[name] ?? "")))
    if (value !== "") values[name] = value
  }
  return values
}

const send = (visitor: Visitor, form: Element, fields: Record<string, string>) =>
  visitor.post(form.getAttribute("action")!, fields)

/** The organization of most tests. */
let first: Seeded
let admin: Visitor
/** The forms of the first organization, with their pages, by the paths of the actions. */
const shown = new Map<string, { readonly page: Route; readonly form: Element }>()

beforeAll(async () => {
  first = await seed()
  admin = await test().as("admin")
  for (const page of pages) {
    const { document } = await open(admin, page, first)
    for (const action of actions) {
      const form = shown.has(action.path) ? null : formFor(document, action, first)
      if (form !== null) shown.set(action.path, { page, form })
    }
  }
})

/** Returns the form of the first campaign's rate. */
const rateForm = async () => {
  const { document } = await admin.get(`/campaigns/${first.ids.campaign}`)
  return document.querySelector("form[action$='/rate']")!
}

describe("the form of every action", () => {
  it("is done once and recorded once, however often it is sent, and its personal values are in no log", async () => {
    const operator = await test().as("admin")
    const shared = await seed()
    const faults: Array<string> = []
    const sent: Array<{ readonly action: Route; readonly form: Element; readonly fields: Record<string, string> }> = []
    const isApart = ({ path }: Route) => APART.has(path)
    for (const action of actions.toSorted((a, b) => Number(isApart(a)) - Number(isApart(b)))) {
      const { path } = action
      const seeded = isApart(action) ? await seed() : shared
      await test().run(PREPARATIONS[path]?.(seeded) ?? Effect.void)
      const isRetry = path === "/deliveries/:delivery/retry"
      const ids = { ...seeded.ids, ...(isRetry && { delivery: await test().run(waitingDelivery(seeded)) }) }
      const form = await findForm(operator, action, { ...seeded, ids })
      const fields = fill(form, CHANGED[path])
      const { status, words } = await send(operator, form, fields)
      if (status !== (REJECTED.includes(path) ? 409 : 200)) faults.push(`${path}: ${status} ${words.slice(0, 500)}`)
      sent.push({ action, form, fields })
      if (!("typed" in action.inputs)) continue
      const names = [...form.closest("main")!.querySelectorAll(".facts dt")].map(({ textContent }) => textContent)
      if (names.slice(0, 3).join() !== "How many,Affected,When") faults.push(`${path} shows ${names}`)
      if (IF_A_CHECK_FAILS.includes(path)) continue
      const isTyped = form.querySelector("input[name=typed]") !== null
      if (isTyped !== WITH_A_WORD.includes(path)) faults.push(`${path} requires a typed word: ${isTyped}`)
    }
    expect(faults).toEqual([])
    const entries = await test().run(function* () {
      const operator = yield* value<string>`select operator from audit_log order by id desc limit 1`
      return (yield* (yield* AuditLog).page({ operator }, 1000)).rows
    })
    expect(entries.map(({ command }) => command).sort()).toEqual(actions.map(({ command }) => command!).sort())
    expect(mail.server().messages.map(({ to }) => to)).toEqual([[PERSONAL.to]])

    const before = await test().run(contentsOf())
    for (const { action, form, fields } of sent.filter(({ action }) => !action.isRepeatable)) {
      const { status, words } = await send(operator, form, fields)
      const isRejected = status === 409 && words.includes("This form was already submitted")
      if (!isRejected) faults.push(`${action.path} again: ${status}`)
    }
    expect(faults).toEqual([])
    expect(await test().run(contentsOf())).toEqual(before)
    const logs = [...test().logs, JSON.stringify(entries)].join("\n")
    for (const value of Object.values(PERSONAL)) expect(logs).not.toContain(value)
  })

  it("changes no data if it is repeatable, no matter how often it is sent", async () => {
    const contents = () => test().run(contentsOf({ withAuditLog: false }))
    const before = await contents()
    for (const { path } of actions.filter(({ isRepeatable }) => isRepeatable)) {
      const { form } = shown.get(path)!
      for (const _ of [1, 2]) {
        const { status } = await send(admin, form, fill(form))
        expect({ path, status }).toEqual({ path, status: 200 })
      }
    }
    expect(await contents()).toEqual(before)
  })

  it("changes no data if its object has its values, and is rejected if its object has another version", async () => {
    const isVersioned = ({ path }: Route) => shown.get(path)?.form.querySelector("input[name=version]")
    const versioned = actions.filter(isVersioned)
    for (const action of versioned) {
      const { path } = action
      // Another test may have changed the object since the first form.
      const form = await findForm(admin, action, first)
      const { submission: _, ...fields } = fill(form)
      const same = await send(admin, form, fields)
      const stale = await send(admin, form, { ...fields, ...CHANGED[path], version: "earlier" })
      expect({ path, same: same.words, status: stale.status, stale: stale.words }).toEqual({
        path,
        same: expect.stringContaining("No change: these are the current settings."),
        status: 409,
        stale: expect.stringContaining("Another operator changed this while the page was open"),
      })
    }
    expect(versioned.length).toBeGreaterThan(4)
  })

  it("is shown again on its page with the typed input, and with the fault of each field", async () => {
    const TYPING = "input:not([type=hidden], [type=checkbox], [type=file]), textarea"
    const forms = [...shown].filter(([, { form }]) => form.querySelector(TYPING) !== null)
    for (const [path, { form }] of forms) {
      const typing = new Set([...form.querySelectorAll(TYPING)].map((control) => control.getAttribute("name")!))
      // No input may contain a NUL character.
      const texts = Object.fromEntries([...typing].map((name) => [name, "typed\0text"]))
      const answer = await send(admin, form, { ...fill(form), ...texts })
      const again = answer.document.querySelector("form.rejected")
      expect({ path, status: answer.status, again: again?.getAttribute("action") }).toEqual({
        path,
        status: 400,
        again: form.getAttribute("action"),
      })
      for (const control of again!.querySelectorAll(TYPING)) {
        const label = control.closest("label")!.querySelector("span")!.textContent.replace(" (UTC)", "")
        const fault = again!.querySelector(`[id="${control.getAttribute("aria-describedby")}"]`)!.textContent
        expect(control.getAttribute("value") ?? control.textContent).toContain("typed")
        expect(fault).toContain(`${label} is not valid`)
      }
      expect(again!.querySelectorAll("[autofocus]")).toHaveLength(1)
    }
    expect(forms.map(([path]) => path)).toEqual(
      expect.arrayContaining(["/campaigns/:campaign/rate", "/suppressions/add", "/endpoints/:endpoint/update"]),
    )
  })
})

describe("a form", () => {
  it("is done once when it is sent several times at once", async () => {
    const { form } = shown.get("/suppressions/add")!
    const fields = { ...fill(form), npi: npi(902), email: "a@acme.test" }
    const answers = await Promise.all([1, 2, 3].map(() => send(admin, form, fields)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
  })

  it("keeps the typed input when the session has expired, until it is sent in a new one", async () => {
    const form = await rateForm()
    const action = form.getAttribute("action")!
    const fields: Record<string, string> = { ...fill(form), "per-minute": "61" }
    const response = await fetch(`${test().url}${action}`, {
      method: "POST",
      headers: { origin: test().url },
      body: new URLSearchParams(fields),
    })
    expect(response.status).toBe(401)
    expect(await response.text()).toContain('name="per-minute" value="61"')
    const again = await test().as("admin")
    const answer = await again.post(action, fields)
    expect(answer.status).toBe(403)
    const kept = fill(answer.document.querySelector("form.rejected")!)
    expect(kept["per-minute"]).toBe("61")
    expect(kept["token"]).not.toBe(fields["token"])
    expect((await again.post(action, kept)).words).toContain("Saved.")
  })

  it.each(["audit_log", "operator_sessions"])(
    "keeps what was typed while the database doesn't respond for %s, and is done once it responds",
    async (table) => {
      const form = await rateForm()
      await test().query((sql) =>
        Effect.andThen(
          sql`create function is_busy() returns trigger language plpgsql as $$ begin raise 'busy' using errcode = '53300'; end $$`,
          sql`create trigger is_busy before insert or update on ${sql(table)} execute function is_busy()`,
        ),
      )
      const failed = await send(admin, form, { ...fill(form), "per-minute": String(table.length) })
      const page = await admin.get("/campaigns?status=draft")
      await test().run(sql`drop function is_busy cascade`)
      expect([failed.status, failed.words]).toEqual([503, expect.stringContaining("The database didn't respond")])
      expect(failed.headers.get("retry-after")).toBe("60")
      if (table === "operator_sessions") {
        expect([page.status, page.headers.get("retry-after")]).toEqual([503, "60"])
        expect(page.document.querySelector("main a[href='/campaigns?status=draft']")!.textContent).toBe("Try again")
      }
      const kept = failed.document.querySelector("main form[method=post]")!
      expect((await send(admin, kept, fill(kept))).words).toContain("Saved.")
    },
  )

  it("has its faults above the page if the page no longer has the form, and is shown on no other site", async () => {
    const path = `/campaigns/${first.ids.campaign}/rate`
    const answer = await admin.post(path, { page: "/", "per-minute": "fast" })
    expect([answer.status, answer.document.querySelector("h1")!.textContent]).toEqual([400, "Today"])
    expect(answer.document.querySelector("[role=alert]")!.textContent).toContain("E-mails per minute")
    const elsewhere = await admin.post(path, { page: "//evil.example/", "per-minute": "fast" })
    expect([elsewhere.status, elsewhere.document.querySelector("h1")!.textContent]).toEqual([400, "Invalid input"])
  })

  it("of filters is shown again with the typed input, and the fault of each field", async () => {
    const answer = await admin.get("/audit?command=pause&from=yesterday")
    expect(answer.status).toBe(400)
    const form = answer.document.querySelector("form.filters.rejected")!
    expect(form.querySelector("[name=command]")!.getAttribute("value")).toBe("pause")
    expect(form.querySelector("[name=from]")!.getAttribute("aria-invalid")).toBe("true")
    expect(form.textContent).toContain("From is not valid. It must be a time")
  })
})
