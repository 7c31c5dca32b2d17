import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { FailureGroupRepository } from "@outreach/domain/deliveries/FailureGroupRepository"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { eventually } from "@outreach/testing/eventually"
import { publishSent } from "@outreach/testing/publishTogether"
import { email, npi } from "@outreach/testing/seedCampaign"
import { resetSending } from "@outreach/testing/sendCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import type { Route as RouteOf } from "../src/http/Route.ts"
import { routes as consoleRoutes } from "../src/routes.ts"
import { contentsOf } from "./contentsOf.ts"
import { seedOrganization } from "./seedOrganization.ts"
import { startConsole, type TestConsole, type Visitor } from "./startConsole.ts"
import { startMailServer } from "./startMailServer.ts"

// The actions are those of the console itself, so that a new one is walked as well.

type Route = RouteOf<unknown>
const routes: ReadonlyArray<Route> = consoleRoutes

// Before the console starts, which reads a file of it.
const mail = startMailServer()
const test = startConsole(mail.settings)

type Seeded = Effect.Success<ReturnType<typeof seedOrganization>>
type Services = Parameters<TestConsole["run"]>[0] extends Effect.Effect<unknown, unknown, infer R> ? R : never

type Ids = Seeded["ids"]
let organizations = 0

/** What must be so before an action can be done, by its path. */
const PREPARATIONS: Readonly<Record<string, (seeded: Seeded) => Effect.Effect<unknown, unknown, Services>>> = {
  "/campaigns/:campaign/schedule": ({ campaign: { id } }) => commandCampaign(id, "pause"),
  "/campaigns/:campaign/resume": ({ campaign: { id } }) => commandCampaign(id, "pause"),
  "/programs/:program/archive": ({ campaign: { id } }) => commandCampaign(id, "cancel"),
  "/endpoints/:endpoint/enable": ({ ids: { endpoint } }) => EndpointRepository.use(({ disable }) => disable(endpoint)),
  "/issues/:group/unmute": ({ ids: { group } }) =>
    FailureGroupRepository.use(({ mute }) => mute(group as never, "known")),
  "/dead-letters/replay": ({ ids: { replay } }) => ReplayJobQueue.use(({ cancel }) => cancel(replay)),
  "/inbox/replay": ({ ids: { organization } }) => applyBatch(organization),
  "/inbox/:event/replay": ({ ids: { organization } }) => applyBatch(organization),
  "/partners/:organization/show": ({ ids: { organization } }) =>
    OrganizationRepository.use(({ setContacts }) => setContacts(organization, ["ann@acme.example" as never])),
  "/people/:id/lift": ({ ids: { organization, id } }) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [person] = yield* sql<{ npi: never; email: never }>`select npi, email from recipients where id = ${id}`
      yield* SuppressionRepository.use(({ add }) => add(organization, [{ programId: null, ...person! }], "operator"))
    }),
  "/people/:id/done": ({ ids: { organization, id } }) =>
    SqlClient.SqlClient.use(
      (sql) => sql`
        insert into replies (organization_id, recipient_id, number, subject, text) values (${organization}, ${id}, 1, 'Hello', 'Who are you?')`,
    ),
}

/** Seeds a delivery that waits for its next attempt. */
const waitingDelivery = Effect.fnUntraced(function* ({ ids, campaign }: Seeded) {
  const { take, settle } = yield* workerOn()
  yield* publishSent(campaign, 1)
  const taken = (yield* take()).filter(({ endpointId }) => endpointId === ids.endpoint)
  yield* settle(taken, { state: "retry", delaySeconds: 3600 }, 503)
  return taken[0]!.id
})

/** What is typed into an input whose form shows no value. */
const TYPED: Readonly<Record<string, string>> = {
  reason: "the partner asked for it",
  name: "Nightly sync",
  scopes: "events:read",
  contact: "ann@acme.example",
  to: "me@acme.test",
  search: npi(0),
  npi: npi(901),
  email: email(901),
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

/** What is refused here, because no name server knows the records: that is to be said once. */
const REFUSED = ["/senders/:sender/verify"]

/** The values of queries without which a page has no form. */
const QUERIES: Readonly<Record<string, string>> = {
  "/endpoints/:endpoint/replay": "from=2026-01-01T00:00:00Z&to=2099-01-01T00:00:00Z",
}

const addressOf = ({ path, inputs }: Route, ids: Ids): string => {
  const exampleOf = (name: string) => ({ ...ids, date: "2026-11-01" })[name as keyof typeof ids]
  const query = Object.keys(inputs).flatMap((name) => (exampleOf(name) ? [`${name}=${exampleOf(name)}`] : []))
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(exampleOf(name)!))
  return `${filled}?${[...query, ...(QUERIES[path] === undefined ? [] : [QUERIES[path]])].join("&")}`
}

/** Finds the form of an action on the pages of an organization: first on those whose address begins as its own does. */
const findForm = async (visitor: Visitor, action: Route, ids: Ids): Promise<Element> => {
  const pages = routes.filter(({ kind, path }) => kind === "page" && path !== "/")
  const isNear = ({ path }: Route) => Number(action.path.startsWith(path)) * path.length
  const address = addressOf(action, ids).split("?")[0]!
  for (const page of pages.toSorted((a, b) => isNear(b) - isNear(a))) {
    const { document } = await visitor.get(addressOf(page, ids))
    const form = document.querySelector(`form[method=post][action="${address}"]`)
    if (form !== null) return form
  }
  throw new Error(`No page of an organization that seedOrganization gives has a form for ${action.path}.`)
}

/** Fills a form in. */
const fill = (form: Element, changed: Readonly<Record<string, string>>): Record<string, string> => {
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

/** Values that differ from those that a form shows. */
const CHANGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/campaigns/:campaign/rate": { "per-minute": "60" },
  "/campaigns/:campaign/complaints": { "pause-on-complaints": "yes" },
  "/endpoints/:endpoint/update": { "per-second": "7" },
}

/** The acts that cannot be undone, before which a word is typed. */
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
/** Those before which one is typed if a check fails. */
const IF_A_CHECK_FAILS = ["/campaigns/:campaign/schedule", "/campaigns/:campaign/resume"]

const expectQuestion = (form: Element, path: string) => {
  const main = form.closest("main")!
  const names = [...main.querySelectorAll(".facts dt")].map(({ textContent }) => textContent)
  expect(names.slice(0, 3)).toEqual(["How many", "Whom it concerns", "From when"])
  expect(main.textContent).toContain("Leave it as it is")
  if (IF_A_CHECK_FAILS.includes(path)) return
  expect(form.querySelector("input[name=typed]") !== null).toBe(WITH_A_WORD.includes(path))
}

/** A list is received, checked and imported by forms that follow each other. */
const IMPORTS = "/campaigns/:campaign/imports/"
const actions = routes.filter(({ kind, path }) => kind === "action" && !path.startsWith(IMPORTS))

describe("an action whose form is sent again", () => {
  it.each(actions.map((route) => [route.path, route] as const))("does nothing twice: %s", async (path, action) => {
    await test().run(resetSending)
    const seeded = await test().run(seedOrganization(`partner${++organizations}.test`))
    await test().run(PREPARATIONS[path]?.(seeded) ?? Effect.void)
    const isRetry = path === "/deliveries/:delivery/retry"
    const ids = {
      ...seeded.ids,
      ...(isRetry && { delivery: await test().run(waitingDelivery(seeded)) }),
      ...(path.startsWith("/events/") && { event: seeded.published }),
    }
    const admin = await test().as("admin")
    const form = await findForm(admin, action, ids)
    if ("typed" in action.inputs) expectQuestion(form, path)
    const fields = fill(form, CHANGED[path] ?? {})
    const send = () => admin.post(form.getAttribute("action")!, fields)
    const mails = mail.server().messages.length

    const before = await test().run(contentsOf({ withAuditLog: false }))
    const answers = await Promise.all([send(), send(), send()])
    const texts = answers.map(({ status, words }) => `${status} ${words.slice(0, 300)}`)
    const done = answers.filter(({ words }) => !words.includes("This form was sent already"))
    expect({ path, done: done.map(({ status }) => status), texts }).toEqual({
      path,
      done: action.isRepeatable ? [200, 200, 200] : [REFUSED.includes(path) ? 409 : 200],
      texts: expect.anything(),
    })
    if (action.isRepeatable) {
      expect(await test().run(contentsOf({ withAuditLog: false }))).toEqual(before)
      return
    }
    const after = await test().run(contentsOf())
    expect((await send()).status).toBe(409)
    expect(await test().run(contentsOf())).toEqual(after)
    expect(mail.server().messages.length - mails).toBe(path === "/campaigns/:campaign/test" ? 1 : 0)
  })

  it("does nothing twice when a list is received, checked and imported", async () => {
    await test().run(resetSending)
    const { ids, campaign } = await test().run(seedOrganization(`partner${++organizations}.test`))
    await test().run(commandCampaign(campaign.id, "pause"))
    const admin = await test().as("admin")
    const list = `npi,email\n${npi(500)},${email(500)}\n`
    /** Sends the form of a page three times; returns where the one that is done leads. */
    const sendThrice = async (address: string, name: string): Promise<string> => {
      const action = `/campaigns/${ids.campaign}/imports/${name}`
      const form = (await admin.get(address)).document.querySelector(`form[action="${action}"]`)!
      const send = async () => {
        const fields = Object.entries(fill(form, { columns: "npi,email" }))
        const body = name === "upload" ? new FormData() : new URLSearchParams(fields)
        if (body instanceof FormData) {
          for (const [field, value] of fields) body.set(field, value)
          body.set("file", new File([list], "list.csv", { type: "text/csv" }))
        }
        const headers = { cookie: admin.cookie, origin: test().url }
        const answer = await fetch(`${test().url}${action}`, { method: "POST", body, headers, redirect: "manual" })
        return { status: answer.status, to: answer.headers.get("location"), text: await answer.text() }
      }
      const answers = await Promise.all([send(), send(), send(), send()])
      const done = answers.filter(({ text }) => !text.includes("This form was sent already"))
      expect({ name, done: done.map(({ status, text }) => [status, text.slice(0, 2000)]) }).toEqual({
        name,
        done: [[303, ""]],
      })
      return done[0]!.to!
    }
    const received = await sendThrice(`/campaigns/${ids.campaign}/imports/new`, "upload")
    await eventually(
      () => admin.get(received),
      ({ document }) => document.querySelector("form[action$='/imports/import']") !== null,
    )
    await sendThrice(received, "import")
    const imported = () =>
      test().run(
        SqlClient.SqlClient.use(
          (sql) => sql<{ count: number }>`select count(*)::int as count from recipients where npi = ${npi(500)}`,
        ),
      )
    await eventually(imported, ([row]) => row!.count > 0)
    expect(await imported()).toEqual([{ count: 1 }])
  })
})
