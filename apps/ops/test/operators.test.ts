import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson } = commandLine()

const add = (name: string, ...flags: ReadonlyArray<string>) =>
  runJson("operators", "create", "--name", name, "--role", "operator", ...flags)
const tokenOf = (link: string) => link.slice(link.lastIndexOf("/") + 1)

describe("operators", () => {
  it("are added with a link for one sign-in, which is printed once", async () => {
    const added = await add(" Dana Reyes ")
    expect(added).toEqual({
      ...{ id: expect.stringMatching(/^opr_[0-9a-f]{32}$/), name: "Dana Reyes", role: "operator" },
      ...{ organization_id: null, expires_at: expect.stringMatching(/Z$/) },
      sign_in_link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8090\/sign-in\/[\w-]{43}$/),
    })
    const args = ["operators", "create", "--name", "Behind TLS", "--role", "viewer"]
    const { stdout, stderr } = await run(args, { CONSOLE_URL: "https://console.acme.example/" })
    expect(stdout).toMatch(/^sign_in_link +https:\/\/console\.acme\.example\/sign-in\/[\w-]{43}$/m)
    expect(stderr).toContain("This is shown only once.")
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
})
