import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { addOperator, OperatorRepository, signIn as signInBy } from "@outreach/domain/operators/Operators"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { startConsole, type TestConsole } from "./startConsole.ts"

const test = startConsole({ CONSOLE_URL: "http://127.0.0.1:1" })
const proxied = startConsole({ CONSOLE_PROXY_HEADER: "X-Forwarded-User", TRUST_PROXY: "loopback" })

const organization = (name: string) =>
  test().run(
    Effect.flatMap(createIdentifier("organization"), (id) => OrganizationRepository.use((all) => all.create(id, name))),
  )
const add = (name: string, organizationId: OrganizationId | null = null, role: "viewer" | "admin" = "viewer") =>
  test().run(addOperator({ name, role, organizationId }))
const signIn = (name: string, on: TestConsole = test()) => on.run(signInBy({ name }))
const listed = async (name: string) =>
  (await test().run(OperatorRepository.use(({ list }) => list))).find((each) => each.name === name)
const audited = (objectId: string) =>
  test().run(Effect.flatMap(AuditLog, (log) => Effect.map(log.page({ objectId }, 10), ({ rows }) => rows)))
const linkIn = (text: string) => /http:\/\/127\.0\.0\.1:1\/sign-in\/([\w-]{43})/.exec(text)?.[1]

describe("the operators of the console", () => {
  it("are listed with role, organization and sessions, and separately after their removal", async () => {
    const { id, name } = await organization("Acme <Health>")
    const dana = await add("Dana", id)
    await signIn("Dana")
    const gone = await add("Gone")
    const admin = await test().as("admin")
    await test().run(OperatorRepository.use(({ remove }) => remove(gone.id)))
    const rowOf = async (path: string, name: string) =>
      [...(await admin.get(path)).document.querySelectorAll("main tbody tr")]
        .map((row) => row.textContent)
        .find((row) => row?.startsWith(name))
    expect(await rowOf("/operators", "Dana")).toMatch(/^Danaviewer.*1/)
    expect(await rowOf(`/operators?organization=${id}`, "Dana")).toContain("Dana")
    expect(await rowOf("/operators", "Dana")).toContain(name)
    expect(await rowOf("/operators", "Gone")).toBeUndefined()
    expect(await rowOf("/operators?removed=yes", "Gone")).toMatch(/^Goneremoved on 20/)
    const path = `/operators/${dana.id}`
    const forms = (await admin.get(path)).document.querySelectorAll(`form[action="${path}/sign-out"]`)
    expect([...forms].map((form) => form.querySelector("input[name=session]") !== null)).toEqual([true])
  })

  it("are added with a link for one use that is shown once", async () => {
    const admin = await test().as("admin")
    const answer = await admin.post("/operators", { name: "New here", role: "operator", expires: "2h" })
    expect(answer.words).toContain("This is shown only once")
    expect(answer.words).toContain("“New here” with the role operator: once, within 2 h")
    expect(answer.words).toContain("--expires 7200s")
    const token = linkIn(answer.text)
    expect(await test().run(OperatorRepository.use((all) => all.findSignInLink(token!)))).toMatchObject({
      once: true,
      operator: { name: "New here", organizationId: null },
    })
    const { id } = (await listed("New here"))!
    const link = await admin.post(`/operators/${id}/link`)
    expect(linkIn(link.text)).not.toBe(token)
    expect(JSON.stringify(await audited(id))).not.toContain(linkIn(link.text))
    expect(test().logs.join()).not.toContain(token)
  })

  it("of one organization are the only ones that its admin sees, adds and changes", async () => {
    const [one, other] = [await organization("One"), await organization("Other")]
    await add("Own", one.id)
    const foreign = [await add("Foreign", other.id), await add("Everywhere")]
    const admin = await test().as("admin", one.id)
    const page = await admin.get("/operators")
    expect(page.words).toContain("Own")
    for (const { id, name } of foreign) {
      expect(page.words).not.toContain(name)
      expect((await admin.post(`/operators/${id}/remove`, { typed: name })).status).toBe(404)
    }
    await admin.post("/operators", { name: "Added by one", role: "partner" })
    expect(await listed("Added by one")).toMatchObject({ organizationId: one.id, role: "partner" })
    expect((await admin.post("/operators", { name: "X", role: "viewer", organization: other.id })).status).toBe(404)
  })

  it("get no link where a proxy signs them in", async () => {
    await proxied().run(addOperator({ name: "Root", role: "admin", organizationId: null }))
    const headers = { "x-forwarded-user": "Root" }
    const first = await fetch(`${proxied().url}/operators`, { headers })
    const text = await first.text()
    const token = /name="token" value="([^"]+)"/.exec(text)![1]!
    const added = await fetch(`${proxied().url}/operators`, {
      method: "POST",
      headers: { ...headers, cookie: first.headers.get("set-cookie")!.split(";")[0]!, origin: proxied().url },
      body: new URLSearchParams({ token, name: "By header", role: "viewer" }),
    })
    const page = await added.text()
    expect(page).toContain("A proxy signs operators in")
    expect(page).not.toMatch(/sign-in\/[\w-]{43}/)
  })
})
