import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { findPages } from "../findPages.ts"
import { seedOrganization } from "../seedOrganization.ts"
import { type Answer, startConsole, type Visitor } from "../startConsole.ts"

const test = startConsole()

let organizations = 0
const setUp = async () => {
  const { ids } = await test().run(seedOrganization(`acme${++organizations}.test`))
  return { ids, admin: await test().as("admin") }
}

/** What a browser sends of a form, with a text in place of what is typed. */
const fieldsOf = (form: Element, typed: string): Record<string, string> =>
  Object.fromEntries(
    [...form.querySelectorAll("input, textarea, select")].flatMap((control) => {
      const type = control.getAttribute("type")
      if (type === "checkbox" || type === "file") return []
      const chosen = control.querySelector("option[selected], option")
      const value = control.localName === "select" ? chosen : type === "hidden" ? control : null
      return [[control.getAttribute("name")!, value === null ? typed : (value?.getAttribute("value") ?? "")]]
    }),
  )

const TYPED = "input:not([type=hidden], [type=checkbox], [type=file]), textarea"

/** Returns the forms of a page that ask for something to be typed, apart from the search of its head. */
const formsOf = ({ document }: Answer) =>
  [...document.querySelectorAll("main form[method=post]")].filter((form) => form.querySelector(TYPED) !== null)

const send = (admin: Visitor, form: Element, fields: Record<string, string>) =>
  admin.post(form.getAttribute("action")!, fields)

it("shows each form again on its page with what was typed, and what is wrong at its field in the words of its label", async () => {
  const { admin, ids } = await setUp()
  const seen = new Set<string>()
  for (const address of [...(await findPages(admin)).values(), `/suppressions?organization=${ids.organization}`]) {
    for (const form of formsOf(await admin.get(address))) {
      const action = form.getAttribute("action")!.replaceAll(/[a-z]{3}_[0-9a-f]{32}/g, ":id")
      if (seen.has(action)) continue
      seen.add(action)
      // No input may hold a NUL character.
      const answer = await send(admin, form, fieldsOf(form, "typed\0text"))
      const refused = answer.document.querySelector("form.refused")
      expect({ action, status: answer.status, refused: refused?.getAttribute("action") }).toEqual({
        action,
        status: 400,
        refused: form.getAttribute("action"),
      })
      for (const control of refused!.querySelectorAll(TYPED)) {
        const label = control.closest("label")!.querySelector("span")!.textContent.replace(" (UTC)", "")
        const fault = refused!.querySelector(`[id="${control.getAttribute("aria-describedby")}"]`)!.textContent
        expect(control.getAttribute("value") ?? control.textContent).toContain("typed")
        expect(fault).toContain(`${label} is not valid`)
      }
      expect(refused!.querySelectorAll("[autofocus]")).toHaveLength(1)
    }
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(["/campaigns/:id/rate", "/suppressions/add", "/endpoints/:id/update"]),
  )
})

it("shows a filter again with what was typed", async () => {
  const { admin } = await setUp()
  const answer = await admin.get("/audit?command=pause&from=yesterday")
  expect(answer.status).toBe(400)
  const form = answer.document.querySelector("form.filters.refused")!
  expect(form.querySelector("[name=command]")!.getAttribute("value")).toBe("pause")
  expect(form.querySelector("[name=from]")!.getAttribute("aria-invalid")).toBe("true")
  expect(form.textContent).toContain("From is not valid. It must be a time")
})

it("keeps what was typed when the session has ended, until it is sent in a new one", async () => {
  const { admin, ids } = await setUp()
  const page = await admin.get(`/campaigns/${ids.campaign}`)
  const form = formsOf(page).find((each) => each.getAttribute("action")!.endsWith("/rate"))!
  const fields: Record<string, string> = { ...fieldsOf(form, "60"), "per-minute": "60" }
  const response = await fetch(`${test().url}${form.getAttribute("action")}`, {
    method: "POST",
    headers: { origin: test().url },
    body: new URLSearchParams(fields),
  })
  expect(response.status).toBe(401)
  expect(await response.text()).toContain('name="per-minute" value="60"')
  const again = await test().as("admin")
  const shown = await again.post(form.getAttribute("action")!, fields)
  expect(shown.status).toBe(403)
  const refused = shown.document.querySelector("form.refused")!
  expect(refused.querySelector("[name=per-minute]")!.getAttribute("value")).toBe("60")
  const { token, ...rest } = fieldsOf(refused, "60")
  expect(token).not.toBe(fields["token"])
  expect((await again.post(form.getAttribute("action")!, { ...rest, token: token! })).words).toContain("Rate changed")
})

it("keeps what was typed while the database does not answer, and does it once that answers", async () => {
  const { admin, ids } = await setUp()
  const form = formsOf(await admin.get(`/campaigns/${ids.campaign}`)).find((each) =>
    each.getAttribute("action")!.endsWith("/rate"),
  )!
  await test().run(
    SqlClient.SqlClient.use((sql) =>
      Effect.andThen(
        sql`create function is_busy() returns trigger language plpgsql as $$ begin raise 'busy' using errcode = '53300'; end $$`,
        sql`create trigger is_busy before insert on audit_log execute function is_busy()`,
      ),
    ),
  )
  const failed = await send(admin, form, { ...fieldsOf(form, ""), "per-minute": "60" })
  await test().run(SqlClient.SqlClient.use((sql) => sql`drop function is_busy cascade`))
  expect([failed.status, failed.words]).toEqual([503, expect.stringContaining("The database did not answer")])
  const kept = failed.document.querySelector("main form[method=post]")!
  expect((await send(admin, kept, fieldsOf(kept, ""))).words).toContain("Rate changed")
})

it("begins a form once, however often it is sent", async () => {
  const { admin, ids } = await setUp()
  const form = formsOf(await admin.get(`/suppressions?organization=${ids.organization}`)).find((each) =>
    each.getAttribute("action")!.endsWith("/add"),
  )!
  const fields = { ...fieldsOf(form, ""), email: "a@acme.test", reason: "by telephone" }
  const answers = await Promise.all([1, 2, 3].map(() => send(admin, form, fields)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
  expect(answers.find(({ status }) => status === 409)!.words).toContain("This form was sent already")
})

it("shows on the page, above all, what is wrong with a form that the page no longer has", async () => {
  const { admin, ids } = await setUp()
  const page = `/campaigns/${ids.campaign}`
  const answer = await admin.post(`${page}/rate`, { page: "/", "per-minute": "fast" })
  expect([answer.status, answer.document.querySelector("h1")!.textContent]).toEqual([400, "Today"])
  expect(answer.document.querySelector("[role=alert]")!.textContent).toContain("E-mails a minute")
  const elsewhere = await admin.post(`${page}/rate`, { page: "//evil.example/", "per-minute": "fast" })
  expect([elsewhere.status, elsewhere.document.querySelector("h1")!.textContent]).toEqual([400, "Not valid"])
})
