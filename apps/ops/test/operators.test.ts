import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { signIn as signInWith } from "@outreach/domain/operators/Operators"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const add = (name: string, ...flags: ReadonlyArray<string>) =>
  runJson("operators", "create", "--name", name, "--role", "operator", ...flags)
const tokenOf = (link: string) => link.slice(link.lastIndexOf("/") + 1)
const signIn = (link: string) => meanwhile(signInWith(tokenOf(link)))

describe("operators", () => {
  it("are added with a link that signs in once, within a day", async () => {
    const added = await add(" Dana Reyes ")
    expect(added).toEqual({
      id: expect.stringMatching(/^opr_[0-9a-f]{32}$/),
      name: "Dana Reyes",
      role: "operator",
      organization_id: null,
      sign_in_link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8090\/sign-in\/[\w-]{43}$/),
      expires_at: expect.stringMatching(/Z$/),
    })
    expect(Math.abs(Date.parse(added.expires_at) - Date.now() - 24 * 3_600_000)).toBeLessThan(3_600_000)
    expect((await signIn(added.sign_in_link))?.operator).toMatchObject({ id: added.id, name: "Dana Reyes" })
    expect(await signIn(added.sign_in_link)).toBeUndefined()
  })

  it("sign in at CONSOLE_URL, and are told that the link is shown once", async () => {
    const args = ["operators", "create", "--name", "Behind TLS", "--role", "viewer"]
    const { stdout, stderr } = await run(args, { CONSOLE_URL: "https://console.acme.example/" })
    expect(stdout).toMatch(/^sign_in_link +https:\/\/console\.acme\.example\/sign-in\/[\w-]{43}$/m)
    expect(stderr).toContain("shown this once")
  })

  it("may belong to one organization", async () => {
    const { id } = await runJson("organizations", "create", "--name", "Acme")
    expect(await add("Acme's", "--organization", id)).toMatchObject({ organization_id: id })
    const unknown = `org_${"0".repeat(32)}`
    const args = ["operators", "create", "--name", "Nobody's", "--role", "viewer", "--organization", unknown]
    expect(await runFailing(...args)).toMatchObject({ code: "organization_not_found" })
  })

  it("have names that differ, and roles that there are", async () => {
    await add("Twice")
    const args = ["operators", "create", "--name", "Twice", "--role"]
    expect(await runFailing(...args, "viewer")).toMatchObject({ code: "operator_name_taken" })
    expect((await run([...args, "owner"])).stderr).toContain("viewer, operator, admin, partner")
  })

  it("are listed with their open sessions", async () => {
    const { id, sign_in_link } = await add("Listed")
    await signIn(sign_in_link)
    const listed = (await runJson("operators", "list")).data.find((operator: { id: string }) => operator.id === id)
    expect(listed).toMatchObject({ name: "Listed", role: "operator", sessions: 1, removed_at: null })
    expect((await run(["operators", "list"])).stdout).toContain(id)
  })

  it("get further links, which work as long as --expires says", async () => {
    const { id } = await add("Linked")
    const { sign_in_link } = await runJson("sign-in-links", "create", "--operator", id)
    expect(await signIn(sign_in_link)).toBeDefined()
    const over = await runJson("sign-in-links", "create", "--operator", id, "--expires", "0s")
    expect(await signIn(over.sign_in_link)).toBeUndefined()
  })

  it("of a partner are added with their first link, and get the next by the same command", async () => {
    const { id: organization } = await runJson("organizations", "create", "--name", "Of partners")
    const linkOf = (...flags: ReadonlyArray<string>) =>
      [
        "sign-in-links",
        "create",
        "--role",
        "partner",
        "--organization",
        organization,
        "--name",
        "Sam",
        ...flags,
      ] as const
    const first = await runJson(...linkOf())
    expect(first).toMatchObject({ name: "Sam", role: "partner", organization_id: organization })
    const second = await runJson(...linkOf("--expires", "1h"))
    expect({ ...second, sign_in_link: "", expires_at: "" }).toEqual({ ...first, sign_in_link: "", expires_at: "" })
    for (const { sign_in_link } of [first, second]) {
      expect((await signIn(sign_in_link))?.operator).toMatchObject({ id: first.id, role: "partner" })
    }

    const { id: another } = await runJson("organizations", "create", "--name", "Another")
    await add("Not a partner", "--organization", organization)
    for (const [of, name] of [
      [organization, "Not a partner"],
      [another, "Sam"],
    ]) {
      const taken = ["sign-in-links", "create", "--role", "partner", "--organization", of, "--name", name]
      expect(await runFailing(...taken)).toMatchObject({ code: "operator_name_taken" })
    }
    const incomplete = [
      ["--role", "partner", "--name", "Sam"],
      ["--role", "partner", "--organization", organization],
      ["--organization", organization, "--name", "Sam"],
      ["--operator", first.id, "--role", "partner"],
      [],
    ]
    for (const flags of incomplete) {
      expect(await runFailing("sign-in-links", "create", ...flags)).toMatchObject({ code: "invalid_selection" })
    }
    expect((await run(["sign-in-links", "create", "--role", "admin"])).stderr).toContain("partner")
  })

  it("of a partner belong to an organization", async () => {
    const unbound = { code: "partner_unbound", message: expect.stringContaining("--organization") }
    expect(await runFailing("operators", "create", "--name", "Unbound", "--role", "partner")).toMatchObject(unbound)
    const { id } = await add("Of all")
    expect(await runFailing("operators", "update", id, "--role", "partner")).toMatchObject(unbound)
  })

  it("get another role from the next request on", async () => {
    const { id, sign_in_link } = await add("Promoted")
    const session = await signIn(sign_in_link)
    expect(await runJson("operators", "update", id, "--role", "admin")).toMatchObject({ id, role: "admin" })
    const found = await meanwhile(OperatorRepository.use((all) => all.findSession(Redacted.value(session!.token))))
    expect(found?.role).toBe("admin")
  })

  it("are removed with their sessions and links, once that is confirmed", async () => {
    const { id, sign_in_link } = await add("Removed")
    const session = await signIn(sign_in_link)
    const open = await runJson("sign-in-links", "create", "--operator", id)
    expect(await runFailing("operators", "remove", id)).toMatchObject({
      code: "not_confirmed",
      message: expect.stringContaining(`remove operator ${id} "Removed", and end 1 session and every sign-in link`),
    })
    await runJson("operators", "remove", id, "--yes")
    const findSession = OperatorRepository.use((all) => all.findSession(Redacted.value(session!.token)))
    expect(await meanwhile(findSession)).toBeUndefined()
    expect(await signIn(open.sign_in_link)).toBeUndefined()
    expect(await runFailing("sign-in-links", "create", "--operator", id)).toMatchObject({ code: "operator_not_found" })
  })

  it("keep one admin of all organizations, until there is another", async () => {
    const admin = async (name: string) => (await runJson("operators", "create", "--name", name, "--role", "admin")).id
    const admins = (await runJson("operators", "list")).data.filter(
      (each: { role: string; removed_at: string | null }) => each.role === "admin" && each.removed_at === null,
    )
    const only = await admin("Only")
    for (const { id } of admins) await runJson("operators", "update", id, "--role", "viewer")
    expect(await runFailing("operators", "remove", only, "--yes")).toMatchObject({
      code: "last_admin",
      message: expect.stringContaining("Add another admin first"),
    })
    expect(await runFailing("operators", "update", only, "--role", "viewer")).toMatchObject({ code: "last_admin" })
    await admin("Another")
    expect(await runJson("operators", "remove", only, "--yes")).toMatchObject({ id: only })
  })

  it("have sessions, which end one by one or all", async () => {
    const { id, sign_in_link } = await add("Signed in")
    await signIn(sign_in_link)
    await signIn((await runJson("sign-in-links", "create", "--operator", id)).sign_in_link)
    const [session, ...others] = (await runJson("sessions", "list", "--operator", id)).data
    expect(others).toHaveLength(1)
    expect((await run(["sessions", "list", "--operator", id])).stdout).toContain(session.id)
    const ended = { operator_id: id, ended_sessions: 1 }
    expect(await runJson("operators", "sign-out", id, "--session", session.id)).toEqual(ended)
    expect(await runFailing("operators", "sign-out", id, "--session", session.id)).toMatchObject({
      code: "session_not_found",
    })
    expect(await runJson("operators", "sign-out", id)).toEqual(ended)
    expect((await runJson("sessions", "list", "--operator", id)).data).toEqual([])
    expect((await runJson("audit", "list", "--object", session.id)).data).toMatchObject([
      { result: "failed", code: "session_not_found" },
      { command: "operators sign-out", arguments: { operator: id, session: session.id }, result: "succeeded" },
    ])
    const nobody = `opr_${"0".repeat(32)}`
    for (const command of [
      ["sessions", "list", "--operator"],
      ["operators", "sign-out"],
    ]) {
      expect(await runFailing(...command, nobody)).toMatchObject({ code: "operator_not_found" })
    }
  })

  it("leave in the audit log who was added and with which role, and no link", async () => {
    const { id, sign_in_link } = await add("Audited")
    const entries = async (command: string) => (await runJson("audit", "list", "--command", command)).data
    expect((await entries("operators create"))[0].arguments).toEqual({
      name: "Audited",
      role: "operator",
      expires: 24 * 3600,
    })
    await runJson("sign-in-links", "create", "--operator", id)
    const all = [...(await entries("sign-in-links")), ...(await entries("operators"))]
    expect(all[0].arguments).toMatchObject({ operator: id })
    expect(JSON.stringify(all)).not.toContain(tokenOf(sign_in_link))
  })
})
