import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import type { OperatorRole } from "@outreach/domain/operators/Operator"
import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { sql } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"

const test = startConsole()
const secure = startConsole({ CONSOLE_URL: "https://console.acme.example" })

let added = 0
const addLink = (
  options: { readonly seconds?: number; readonly once?: boolean; readonly role?: OperatorRole } = {},
) => {
  const { seconds = 3600, once = true, role = "viewer" } = options
  const name = `Linked ${++added}`
  return test().run(function* () {
    const operator = yield* addOperator({ name, role, organizationId: null })
    const { token } = yield* createSignInLink(operator.id, { seconds, once })
    return { operator, path: `/sign-in/${Redacted.value(token)}` }
  })
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${test().url}${path}`, { headers, redirect: "manual" })
const post = (path: string, headers: Readonly<Record<string, string>> = {}, fields: Record<string, string> = {}) =>
  fetch(`${test().url}${path}`, {
    method: "POST",
    headers: { origin: test().url, ...headers },
    body: new URLSearchParams(fields),
    redirect: "manual",
  })
const cookieOf = (response: Response) => response.headers.get("set-cookie")?.split(";")[0]

/** Reports whether a cookie is that of a session: signing out without a form's token is rejected then. */
const isSignedIn = async (cookie = "") => (await post("/sign-out", { cookie })).status === 403

describe("a sign-in link for one use", () => {
  it("shows a button however often it is opened, and signs in by the button, once", async () => {
    const { operator, path } = await addLink({ role: "operator" })
    for (const _ of [1, 2]) {
      const response = await get(path)
      expect({ status: response.status, cookie: cookieOf(response) }).toEqual({ status: 200, cookie: undefined })
      const text = await response.text()
      expect(text).toContain(operator.name)
      expect(text).toMatch(/<form[^>]* method="post"/)
    }
    const used = await post(path)
    expect({ status: used.status, to: used.headers.get("location") }).toEqual({ status: 303, to: "/" })
    expect(used.headers.get("set-cookie")).toMatch(
      /^session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(await isSignedIn(cookieOf(used))).toBe(true)

    const again = await post(path)
    expect({ status: again.status, cookie: cookieOf(again) }).toEqual({ status: 410, cookie: undefined })
    expect(await again.text()).toContain("ops sign-in-links create")
  })

  it("can't be used by a form of another site", async () => {
    const { path } = await addLink()
    expect((await post(path, { origin: "https://evil.example" })).status).toBe(403)
    expect((await post(path, { "sec-fetch-site": "cross-site" })).status).toBe(403)
    expect((await post(path)).status).toBe(303)
  })

  it("explains the next step if it has expired, is unknown or isn't a token", async () => {
    const { path } = await addLink({ seconds: 0 })
    for (const each of [path, `/sign-in/${"a".repeat(43)}`, "/sign-in/x", "/sign-in/%00"]) {
      for (const response of [await get(each), await post(each)]) {
        expect(response.status).toBe(410)
        expect(await response.text()).toContain("ops sign-in-links create")
      }
    }
  })
})

describe("a sign-in link for several uses", () => {
  it("signs in as soon as it is opened, each time", async () => {
    const { path } = await addLink({ once: false })
    for (const _ of [1, 2]) {
      const response = await get(path)
      expect({ status: response.status, to: response.headers.get("location") }).toEqual({ status: 303, to: "/" })
      expect(await isSignedIn(cookieOf(response))).toBe(true)
    }
  })

  it("opens the first page from here when it is followed from another site, so that the browser sends the cookie", async () => {
    const { path } = await addLink({ once: false })
    const response = await get(path, { "sec-fetch-site": "cross-site" })
    expect(response.headers.get("refresh")).toBe("0; url=/")
    expect(await isSignedIn(cookieOf(response))).toBe(true)
  })
})

describe("an operator", () => {
  it("signs out with the token of a form", async () => {
    const operator = await test().as("viewer")
    expect(await isSignedIn(operator.cookie)).toBe(true)
    const answer = await operator.post("/sign-out")
    expect(answer.words).toContain("Sign in")
    expect(await isSignedIn(operator.cookie)).toBe(false)
  })

  it("who leaves a page open does not use the session", async () => {
    const { cookie } = await test().as("viewer")
    const lastUse = () =>
      test().run(sql<{ at: string }>`
        select max(last_used_at)::text as at from operator_sessions
        where hash = sha256(convert_to(${cookie.slice("session=".length)}, 'UTF8'))`)
    await test().run(sql`update operator_sessions set last_used_at = now() - interval '1 hour'`)
    const before = await lastUse()
    expect((await get("/", { cookie, "sec-fetch-dest": "empty" })).status).toBe(200)
    expect(await lastUse()).toEqual(before)
    await get("/", { cookie, "sec-fetch-dest": "document" })
    expect(await lastUse()).not.toEqual(before)
  })

  it("who signs in is in the audit log, and the tokens of link and session are in no log", async () => {
    const { operator, path } = await addLink()
    const cookie = cookieOf(await post(path))!
    await post(path)
    const entries = await test().run(
      Effect.flatMap(AuditLog, (log) =>
        Effect.map(log.page({ command: "sign-in", operator: operator.name }, 10), ({ rows }) => rows),
      ),
    )
    expect(entries.map(({ arguments: recorded, result }) => ({ recorded, result }))).toEqual([
      { recorded: { operator: operator.id }, result: "succeeded" },
    ])
    const logs = [...test().logs, JSON.stringify(entries)].join("\n")
    for (const token of [path.slice("/sign-in/".length), cookie.slice("session=".length)])
      expect(logs).not.toContain(token)
  })
})

it("restricts the session's cookie to this host and to TLS if the console is reached by TLS", async () => {
  const token = await secure().run(function* () {
    const operator = yield* addOperator({ name: "Ada", role: "viewer", organizationId: null })
    return (yield* createSignInLink(operator.id, { seconds: 60, once: false })).token
  })
  const response = await fetch(`${secure().url}/sign-in/${Redacted.value(token)}`, { redirect: "manual" })
  expect(response.headers.get("set-cookie")).toMatch(
    /^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
  expect(response.headers.get("strict-transport-security")).toContain("max-age=")
})
