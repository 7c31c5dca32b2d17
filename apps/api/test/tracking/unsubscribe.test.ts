import { RecipientId } from "@outreach/domain/Identifier"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const api = startApi()
let seeded: Effect.Success<ReturnType<typeof seedMessages>>
let path: string
beforeEach(async () => {
  seeded = await api().run(seedMessages(1))
  path = links.unsubscribe(seeded.addressees[0]!)
})

const ask = async (target: string, init: RequestInit = {}) => {
  const response = await fetch(api().url + target, init)
  return { status: response.status, headers: response.headers, body: await response.text() }
}
const query = <A extends object>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<A>, unknown>) =>
  api().run(Effect.flatMap(SqlClient.SqlClient, statement))
const asked = () =>
  query((sql) => sql`select from unsubscriptions where organization_id = ${seeded.organization.id}`).then(
    (rows) => rows.length,
  )
/** Applies what was asked; returns the kinds of the suppressions. */
const suppressed = async () => {
  await api().run(applyUnsubscriptions)
  const [row] = await query<{ program: ReadonlyArray<string>; organization: ReadonlyArray<string> }>(
    (sql) => sql`
      select array(select kind from suppressions where program_id = ${seeded.program.id} and reason = 'unsubscribed' order by kind) as program,
        array(select kind from organization_suppressions where organization_id = ${seeded.organization.id} and reason = 'unsubscribed'
          and applied_at is not null order by kind) as organization`,
  )
  return row!
}
/** What mail providers send for their own button, RFC 8058 3.2. */
const ONE_CLICK = { method: "POST", body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) }

describe("the page to unsubscribe", () => {
  it.each(["GET", "HEAD"])("by %s only shows itself", async (method) => {
    const { status, headers } = await ask(path, { method })
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex, nofollow",
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
    })
    expect(await asked()).toBe(0)
  })

  it.each([
    ["one click", ONE_CLICK],
    ["one click as form data", { method: "POST", body: multipart() }],
    ["the button", { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" } }],
  ])("by %s suppresses the recipient, by NPI and by e-mail address, for the organization", async (_, init) => {
    const { status, body } = await ask(path, init)
    expect([status, body]).toEqual([200, expect.stringContaining("no more e-mails from <b>Acme Health</b>")])
    expect(await suppressed()).toEqual({ program: [], organization: ["email", "npi"] })
  })

  it("by the button for the program suppresses the recipient for that program alone, until the other is asked for", async () => {
    const { status, body } = await ask(`${path}?scope=program`, { method: "POST" })
    expect([status, body]).toEqual([200, expect.stringContaining("no more e-mails about <b>Heart failure</b>")])
    expect(await suppressed()).toEqual({ program: ["email", "npi"], organization: [] })
    expect((await ask(`${path}?scope=organization`, { method: "POST" })).status).toBe(200)
    expect((await ask(`${path}?scope=program`, { method: "POST" })).status).toBe(200)
    expect(await suppressed()).toEqual({ program: ["email", "npi"], organization: ["email", "npi"] })
  })

  it("is applied for the organization after a worker of the last release applied it for the program", async () => {
    await ask(path, ONE_CLICK)
    await query((sql) => sql`update unsubscriptions set suppressed_at = clock_timestamp() returning 1`)
    expect((await suppressed()).organization).toEqual(["email", "npi"])
    expect(await api().run(applyUnsubscriptions)).toBe(0)
  })

  it("names the sender, the program and the address, which it shows in part", async () => {
    await query(
      (sql) => sql`update programs set sender_name = 'Acme <Education>' where id = ${seeded.program.id} returning 1`,
    )
    const { body } = await ask(path)
    expect(body).toContain("from <b>Acme &#60;Education&#62;</b> about <b>Heart failure</b> at <b>c•••@clinic.test</b>")
    expect(body).toContain(`<button formaction="?scope=organization">Everything from Acme Health</button>`)
    expect(body).toContain(`formaction="?scope=program">Only e-mails about Heart failure</button>`)
    expect(body).not.toContain(seeded.addressees[0]!.email)
  })

  it("shows nothing about a recipient who was erased, and unsubscribes nobody", async () => {
    await query(
      (sql) =>
        sql`update recipients set erased_at = clock_timestamp() where id = ${seeded.addressees[0]!.id} returning 1`,
    )
    for (const init of [{}, ONE_CLICK]) {
      const { status, body } = await ask(path, init)
      expect([status, body]).toEqual([200, expect.stringContaining("this sender")])
      expect(body).not.toMatch(/Acme|Heart|clinic/)
    }
    expect(await asked()).toBe(0)
  })

  it("is shown without names while the database cannot tell them", async () => {
    await query((sql) => sql`alter table recipients rename to unreachable`)
    const { status, body } = await ask(path)
    await query((sql) => sql`alter table unreachable rename to recipients`)
    expect([status, body]).toEqual([200, expect.stringContaining("Everything from this sender")])
  })

  it("may be asked again and again, by whoever has the link", async () => {
    for (let i = 0; i < 3; i++) expect((await ask(path, ONE_CLICK)).status).toBe(200)
    await api().run(applyUnsubscriptions)
    expect((await ask(path, ONE_CLICK)).status).toBe(200)
    expect(await asked()).toBe(1)
    expect(await api().run(applyUnsubscriptions)).toBe(1)
    expect(await api().run(applyUnsubscriptions)).toBe(0)
  })

  it.each(["GET", "POST"])("by %s with another link is the page that leads nowhere", async (method) => {
    const [one, ...rest] = path.split("/").at(-1)!
    const wrong = [
      "/unsubscribe/",
      `/unsubscribe/${one === "A" ? "B" : "A"}${rest.join("")}`,
      `${path}A`,
      links.open(seeded.addressees[0]!).replace("/o/", "/unsubscribe/"),
    ]
    for (const target of wrong) {
      const { status, body } = await ask(target, { method })
      expect([status, body]).toEqual([404, expect.stringContaining("This link is not valid")])
    }
    expect(await asked()).toBe(0)
  })

  it("of a recipient that there is no more leads nowhere", async () => {
    const gone = links.unsubscribe({ ...seeded.addressees[0]!, recipientId: RecipientId.make(`rcp_${"0".repeat(32)}`) })
    expect((await ask(gone, ONE_CLICK)).status).toBe(404)
  })

  it("says so when nothing could be kept", async () => {
    await query((sql) => sql`alter table unsubscriptions rename to unreachable`)
    const { status, body } = await ask(path, ONE_CLICK)
    await query((sql) => sql`alter table unreachable rename to unsubscriptions`)
    expect([status, body]).toEqual([503, expect.stringContaining("You are not unsubscribed yet")])
    expect(api().logs.join("\n")).toContain("an unsubscription could not be kept")
    expect(api().logs.join("\n")).not.toContain(path.split("/").at(-1)!.slice(0, 40))
    expect((await ask(path, ONE_CLICK)).status).toBe(200)
  })

  it("answers other methods as everything does", async () => {
    const { status, headers } = await ask(path, { method: "DELETE" })
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"])
  })
})

function multipart(): FormData {
  const form = new FormData()
  form.set("List-Unsubscribe", "One-Click")
  return form
}
