import type { OperatorId } from "@outreach/domain/Identifier"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { signIn as signInWith } from "@outreach/domain/operators/Operators"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const add = (name: string, ...flags: ReadonlyArray<string>) =>
  runJson("operators", "create", "--name", name, "--role", "operator", ...flags)
const tokenOf = (link: string) => link.slice(link.lastIndexOf("/") + 1)
const signIn = (link: string) => meanwhile(signInWith(tokenOf(link)))
const sessionsOf = (id: OperatorId) => meanwhile(OperatorRepository.use(({ listSessions }) => listSessions(id)))

describe("operators", () => {
  it("are added with a link for one sign-in, which is printed once", async () => {
    const added = await add(" Dana Reyes ")
    expect(added).toEqual({
      ...{ id: expect.stringMatching(/^opr_[0-9a-f]{32}$/), name: "Dana Reyes", role: "operator" },
      ...{ organization_id: null, expires_at: expect.stringMatching(/Z$/) },
      sign_in_link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8090\/sign-in\/[\w-]{43}$/),
    })
    expect((await signIn(added.sign_in_link))?.operator).toMatchObject({ id: added.id, name: "Dana Reyes" })
    expect(await signIn(added.sign_in_link)).toBeUndefined()
    expect((await runJson("operators", "list")).data).toContainEqual(
      expect.objectContaining({ id: added.id, name: "Dana Reyes", sessions: 1, removed_at: null }),
    )
    const args = ["operators", "create", "--name", "Behind TLS", "--role", "viewer"]
    const { stdout, stderr } = await run(args, { CONSOLE_URL: "https://console.acme.example/" })
    expect(stdout).toMatch(/^sign_in_link +https:\/\/console\.acme\.example\/sign-in\/[\w-]{43}$/m)
    expect(stderr).toContain("shown this once")
  })

  it("are recorded in the audit log with their role, without the link", async () => {
    const { id, sign_in_link } = await add("Audited")
    await runJson("sign-in-links", "create", "--operator", id)
    const { data } = await runJson("audit", "list", "--limit", "2")
    expect(data).toMatchObject([
      { arguments: { operator: id } },
      { arguments: { name: "Audited", role: "operator", expires: 24 * 3600 } },
    ])
    expect(JSON.stringify(data)).not.toContain(tokenOf(sign_in_link))
  })

  it("may belong to one organization, as partners must", async () => {
    const { id: organization } = await runJson("organizations", "create", "--name", "Acme")
    const { id } = await add("Acme's", "--organization", organization)
    expect(await runJson("operators", "update", id, "--role", "partner")).toMatchObject({ id, role: "partner" })
    const unbound = { code: "partner_unbound" }
    expect(await runFailing("operators", "create", "--name", "Unbound", "--role", "partner")).toMatchObject(unbound)
    const other = (await add("Of all")).id
    expect(await runFailing("operators", "update", other, "--role", "partner")).toMatchObject(unbound)
    const taken = ["operators", "create", "--name", "Of all", "--role"]
    expect(await runFailing(...taken, "viewer")).toMatchObject({ code: "operator_name_taken" })
    expect((await run([...taken, "owner"])).stderr).toContain("viewer, operator, admin, partner")
  })

  it("of a partner are added with their first link, and get the next link from the same command", async () => {
    const { id: organization } = await runJson("organizations", "create", "--name", "Of partners")
    const linkFor = (of: string, name: string, ...flags: ReadonlyArray<string>) => [
      ...["sign-in-links", "create", "--role", "partner", "--organization", of, "--name", name],
      ...flags,
    ]
    const first = await runJson(...linkFor(organization, "Sam"))
    expect(first).toMatchObject({ name: "Sam", role: "partner", organization_id: organization })
    const second = await runJson(...linkFor(organization, "Sam", "--expires", "1h"))
    expect({ ...second, sign_in_link: "", expires_at: "" }).toEqual({ ...first, sign_in_link: "", expires_at: "" })
    for (const { sign_in_link } of [first, second]) {
      expect((await signIn(sign_in_link))?.operator).toMatchObject({ id: first.id, role: "partner" })
    }
    await add("Not a partner", "--organization", organization)
    const taken = linkFor(organization, "Not a partner")
    expect(await runFailing(...taken)).toMatchObject({ code: "operator_name_taken" })
    for (const flags of [
      ["--role", "partner", "--name", "Sam"],
      ["--role", "partner", "--organization", organization],
      ["--organization", organization, "--name", "Sam"],
      ["--operator", first.id, "--role", "partner"],
      [],
    ]) {
      expect(await runFailing("sign-in-links", "create", ...flags)).toMatchObject({ code: "invalid_selection" })
    }
    const expired = await runJson("sign-in-links", "create", "--operator", first.id, "--expires", "0s")
    expect(await signIn(expired.sign_in_link)).toBeUndefined()
  })

  it("are removed with their sessions and links after a confirmation, except the last admin", async () => {
    const { id, sign_in_link } = await add("Removed")
    await signIn(sign_in_link)
    expect(await runFailing("operators", "remove", id)).toMatchObject({
      code: "not_confirmed",
      message: expect.stringContaining(`remove operator ${id} "Removed", and end 1 session and every sign-in link`),
    })
    await runJson("operators", "remove", id, "--yes")
    expect(await runFailing("sign-in-links", "create", "--operator", id)).toMatchObject({ code: "operator_not_found" })
    const admin = await runJson("operators", "create", "--name", "Only", "--role", "admin")
    expect(await runFailing("operators", "remove", admin.id, "--yes")).toMatchObject({
      ...{ code: "last_admin", message: expect.stringContaining("Add another admin first") },
    })
  })

  it("have sessions, which end one by one or all", async () => {
    const { id, sign_in_link } = await add("Signed in")
    await signIn(sign_in_link)
    await signIn((await runJson("sign-in-links", "create", "--operator", id)).sign_in_link)
    const [session, ...others] = await sessionsOf(id)
    expect(others).toHaveLength(1)
    const ended = { operator_id: id, ended_sessions: 1 }
    const signOut = ["operators", "sign-out", id]
    expect(await runJson(...signOut, "--session", session!.id)).toEqual(ended)
    expect(await runFailing(...signOut, "--session", session!.id)).toMatchObject({ code: "session_not_found" })
    expect(await runJson(...signOut)).toEqual(ended)
    expect(await sessionsOf(id)).toEqual([])
    expect((await runJson("audit", "list", "--object", session!.id)).data).toMatchObject([
      { result: "failed", code: "session_not_found" },
      { command: "operators sign-out", arguments: { operator: id, session: session!.id }, result: "succeeded" },
    ])
  })
})
