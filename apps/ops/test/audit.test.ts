import { execFileSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { hostname, tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { asRole } from "@outreach/testing/testRoles"
import { SqlClient } from "effect/sql"
import { describe, expect, it, onTestFinished } from "vitest"
import { commandLine } from "./commandLine.ts"

const { url, run, runJson, runFailing, meanwhile } = commandLine()

const sql = <Row extends object>(statement: string) =>
  meanwhile(SqlClient.SqlClient.use((client) => client.unsafe<Row>(statement)))
const newest = async (...filters: ReadonlyArray<string>) =>
  (await runJson("audit", "list", "--limit", "1", ...filters)).data[0]

describe("the audit log", () => {
  it("records the operator, the command, the host and the success of a change", async () => {
    const { organization, campaign } = await meanwhile(seedCampaign({ recipients: 1 }))
    const args = ["campaigns", "cancel", campaign.id, "--yes", "--output", "json"]
    expect((await run(args, { OPS_OPERATOR: "Dana Reyes" })).code).toBe(0)
    expect(await newest()).toEqual({
      id: expect.stringMatching(/^aud_[0-9a-f]{32}$/),
      begun_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      command: "campaigns cancel",
      arguments: { campaign: campaign.id, yes: true },
      operator: "Dana Reyes",
      os_user: userInfo().username,
      role: new URL(asRole(url(), "operator")).username,
      host: hostname(),
      organizations: [organization.id],
      result: "succeeded",
      code: null,
      erasure_id: null,
      ended_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
  })

  it("records that personal data, texts and secrets were given, but not their values", async () => {
    const { program } = await meanwhile(seedCampaign({ recipients: 1 }))
    const person = ["--npi", npi(7), "--email", "dana.reyes@clinic.test"]
    await runJson("suppressions", "create", "--program", program.id, ...person)
    expect((await newest()).arguments).toEqual({ program: program.id, npi: null, email: null })
    const reason = "asked by phone"
    await runJson("suppressions", "remove", "--program", program.id, ...person, "--reason", reason, "--yes")
    expect((await newest()).arguments).toEqual({ program: program.id, npi: null, email: null, reason, yes: true })
    await runJson("recipients", "find", "--email", "dana.reyes@clinic.test", "--reveal")
    expect(await newest()).toMatchObject({
      command: "recipients find",
      arguments: { email: null, reveal: true, limit: 50 },
    })
    await runFailing("campaigns", "test", `cmp_${"0".repeat(32)}`, "--to", "dana.reyes@clinic.test")
    expect((await newest()).arguments).toEqual({ campaign: `cmp_${"0".repeat(32)}`, to: null })
    const { stdout } = await run(["audit", "list"])
    expect(stdout).toContain(`program=${program.id} npi=… email=…`)
    expect(stdout).not.toMatch(/dana\.reyes/)
  })

  it("doesn't contain an endpoint's headers, which are read from a file or a pipe", async () => {
    const { endpoint } = await meanwhile(seedCampaign({ recipients: 0 }))
    const pipe = join(temporaryFolder("ops-audit", onTestFinished), "headers")
    execFileSync("mkfifo", [pipe])
    const [changed] = await Promise.all([
      runJson("endpoints", "update", endpoint.id, "--headers", pipe),
      writeFile(pipe, "X-Api-Key: t0psecret\n"),
    ])
    expect(await newest()).toMatchObject({ arguments: { endpoint: endpoint.id, headers: null } })
    const { stdout } = await run(["endpoints", "show", endpoint.id])
    expect(stdout).toMatch(/^headers +X-Api-Key$/m)
    expect(JSON.stringify([changed, stdout])).not.toContain("t0psecret")
  })

  it("keeps only the origin of an endpoint's address, because it may contain a secret", async () => {
    const { organization } = await meanwhile(seedCampaign({ recipients: 1 }))
    const args = ["--organization", organization.id, "--url", "https://partner.example/hooks/s3cret?key=s3cret"]
    await runJson("endpoints", "create", ...args)
    expect((await newest()).arguments).toEqual({ organization: organization.id, url: "https://partner.example" })
  })

  it("is listed by organization, command, operator, time and result, with has_more", async () => {
    const { id } = await runJson("organizations", "create", "--name", "Filters")
    const program = ["programs", "create", "--organization", id, "--name", "x", "--slug"]
    for (const slug of ["a", "b"]) await run([...program, slug], { OPS_OPERATOR: slug })
    const listed = async (...filters: ReadonlyArray<string>) =>
      (await runJson("audit", "list", "--organization", id, ...filters)).data.map(
        (entry: { arguments: { slug: string } }) => entry.arguments.slug,
      )
    expect(await listed()).toEqual(["b", "a"])
    expect(await listed("--operator", "a")).toEqual(["a"])
    expect(await listed("--operator", userInfo().username)).toEqual(["b", "a"])
    expect(await listed("--command", "programs")).toEqual(["b", "a"])
    expect(await listed("--command", "programs create")).toEqual(["b", "a"])
    expect(await listed("--command", "program")).toEqual([])
    const { begun_at } = await newest("--organization", id)
    expect(await listed("--from", begun_at)).toEqual(["b"])
    expect(await listed("--to", begun_at)).toEqual(["a"])
    const { has_more } = await runJson("audit", "list", "--organization", id, "--limit", "1")
    expect(has_more).toBe(true)
    await run([...program, "a"])
    expect(await listed("--result", "failed")).toEqual(["a"])
  })

  it("starts with the command that creates it", async () => {
    await sql("create database to_migrate")
    const settings = { DATABASE_URL: url().replace(/[^/]*$/, "to_migrate") }
    try {
      expect((await run(["migrate"], settings)).code).toBe(0)
      expect((await run(["migrate"], settings)).code).toBe(0)
      const { stdout } = await run(["audit", "list", "--output", "json"], settings)
      expect(JSON.parse(stdout).data).toMatchObject([
        { command: "migrate", result: "succeeded" },
        { command: "migrate", result: "succeeded" },
      ])
    } finally {
      await sql("drop database to_migrate")
    }
  })

  it("prevents all changes when it cannot be written", async () => {
    const name = "Nobody is to know"
    await sql("alter table audit_log rename to audit_log_away")
    try {
      const failure = await runFailing("organizations", "create", "--name", name)
      expect(failure).toMatchObject({ code: "database_failure", operation: "AuditLog.begin" })
    } finally {
      await sql("alter table audit_log_away rename to audit_log")
    }
    const { data } = await runJson("organizations", "list")
    expect(data.map((organization: { name: string }) => organization.name)).not.toContain(name)
  })
})

describe("audit export and audit verify", () => {
  it("print the entries with their hashes, and the head of the log, which a noted head or an export confirms", async () => {
    for (const name of ["Exported", "Verified"]) await runJson("organizations", "create", "--name", name)
    const { stdout } = await run(["audit", "export"])
    const lines = stdout.trimEnd().split("\n")
    const newest = JSON.parse(lines.at(-1)!)
    const file = join(tmpdir(), `audit-${newest.hash}.jsonl`)
    writeFileSync(file, stdout)
    onTestFinished(() => rmSync(file))
    const head = `${newest.number}:${newest.hash}`
    const verified = await runJson("audit", "verify", "--head", head, "--against", file)
    expect(verified).toEqual({ entries: lines.length, removed: 0, head, faults: [] })
    expect((await run(["audit", "verify"])).stdout).toContain(head)
    const [entry] = (await run(["audit", "export", "--since", String(newest.number - 1)])).stdout.trimEnd().split("\n")
    expect(entry).toBe(lines.at(-1))
    const other = ["audit", "verify", "--head", `${newest.number}:${"0".repeat(64)}`]
    const differs = { code: "audit_log_differs", exit: 1, faults: [{ number: newest.number, problem: "another" }] }
    expect(await runFailing(...other)).toMatchObject(differs)
    expect((await run(other)).stderr).toContain(`another: Entry ${newest.number}`)
  })
})
