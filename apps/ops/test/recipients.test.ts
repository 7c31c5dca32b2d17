import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { person, seedPerson } from "@outreach/testing/seedPerson"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = temporaryFolder("ops-recipients", afterAll)

let files = 0
const csv = (...lines: ReadonlyArray<string>): string => {
  const path = join(folder, `${files++}.csv`)
  writeFileSync(path, lines.join("\n"))
  return path
}
const line = (i: number): string => `${npi(i)},clinician${i}@clinic.test`

const draft = async (options: Omit<Parameters<typeof seedCampaign>[0], "recipients"> = {}): Promise<string> =>
  (await meanwhile(seedCampaign({ recipients: 0, ...options }))).campaign.id
const load = (campaign: string, path: string, ...flags: ReadonlyArray<string>) => [
  ...["recipients", "import", "--campaign", campaign, path],
  ...flags,
]

describe("recipients import", () => {
  it("prints a report, how the file was read, and each bad line with its reason", async () => {
    const campaign = await draft()
    const path = csv("npi;email;Notes", `${npi(1)};a@clinic.test;x`, `${npi(2)};no-address;`)
    const skipping = load(campaign, path, "--ignore-columns", "--skip-bad")
    expect(await runJson(...skipping)).toEqual({
      campaign_id: campaign,
      ...{ imported: 1, updated: 0, already_there: 0, suppressed: 0, repeated: 0 },
      read_as: "UTF-8, semicolon-separated, with the header npi, email, Notes",
      ...{ bad_count: 1, bad_lines: [{ line: 3, reason: "the e-mail address is not valid" }] },
    })
    const { stdout, stderr } = await run(skipping)
    expect(stdout).toMatch(/^already_there +1\n/m)
    expect(stderr.split("\n")).toEqual([
      "Read as UTF-8, semicolon-separated, with the header npi, email, Notes.",
      "line 3: the e-mail address is not valid",
      "",
    ])
    const [{ id }] = (await runJson("imports", "list", "--campaign", campaign)).data
    expect((await run(["imports", "show", id])).stdout).toMatch(/^line +reason\n3 +the e-mail address is not valid$/m)
  })

  it("fails with the bad lines unless they are skipped, and prints the first hundred", async () => {
    const path = csv("npi,email", line(1), ...Array.from({ length: 130 }, () => "1,2"))
    const args = load(await draft(), path)
    expect(await runFailing(...args)).toMatchObject({ code: "bad_lines", imported: 0, bad_count: 130, exit: 1 })
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr.match(/^line \d+: /gm)).toHaveLength(100)
    expect(stderr).toContain("and 30 more bad lines; --rejects FILE writes them all\n")
  })

  it("writes the rejected lines to a new file with --rejects", async () => {
    const rejects = join(folder, "rejects.csv")
    const args = load(await draft(), csv("npi,email", line(1), "1,2"), "--skip-bad", "--rejects", rejects)
    expect((await run(args)).stderr).toContain(`The bad lines are in ${rejects}.\n`)
    expect(readFileSync(rejects, "utf8")).toMatch(/^line,reason,npi,email\n3,"[^"]+",1,2\n$/)
    const message = `${rejects} cannot be written: it already exists and isn't overwritten.`
    expect(await runFailing(...args)).toMatchObject({ code: "unusable_file", message, exit: 1 })
  })

  it("shows the parsed first lines with --check, masked, and imports no recipients", async () => {
    const campaign = await draft()
    const path = csv("Mail,npi,First Name", `a@b.test,=1,x`, `dana@clinic.test,${npi(1)},Zoë ${npi(0)}`)
    const args = load(campaign, path, "--map", "Mail=email", "--fields", "first_name", "--check")
    expect(await runJson(...args)).toMatchObject({ would_import: 1, bad_count: 1 })
    const { stdout } = await run(args)
    expect(stdout).toMatch(/^line +npi +email +first_name +fault\n2 .* the NPI is not ten digits$/m)
    expect(stdout).toMatch(/^would_import +1$/m)
    expect(stdout).not.toMatch(/dana@|\b\d{10}\b/)
    expect((await runJson("campaigns", "show", campaign)).progress.recipients).toBe(0)
  })
})

const exporting = (campaign: string, out: string) => ["recipients", "export", "--campaign", campaign, "--out", out]
const exported = async (campaign: string, ...flags: ReadonlyArray<string>) => {
  const out = join(folder, `outcomes-${files++}.csv`)
  const report = await runJson(...exporting(campaign, out), ...flags)
  const text = readFileSync(out, "utf8")
  const [head, ...rows] = text
    .trimEnd()
    .split("\r\n")
    .map((row) => row.split(","))
  return { out, report, text, rows: rows.map((row) => Object.fromEntries(head!.map((name, i) => [name, row[i]]))) }
}

describe("recipients export", () => {
  it("writes each recipient's outcomes, masked, to a new file that only its owner can read", async () => {
    const { campaign, token } = await meanwhile(seedPerson())
    const { out, report, rows } = await exported(campaign.id)
    expect(report).toEqual({ campaign_id: campaign.id, out, recipients: 3 })
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(rows.find((row) => row["token"] === token)).toMatchObject({
      ...{ npi: "••••••0004", email: "c•••@clinic.test", state: "refused_later", last_reply: "250 OK", opened_on: "" },
      ...{ sent_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/), refusal_cause: "policy" },
    })
    expect(await runFailing(...exporting(campaign.id, out))).toMatchObject({ code: "unusable_file" })
    const none = join(folder, "none.csv")
    const unknown = await runFailing(...exporting(`cmp_${"0".repeat(32)}`, none))
    expect(unknown).toMatchObject({ code: "campaign_not_found" })
    expect(existsSync(none)).toBe(false)
  })

  it("writes NPIs and addresses with --reveal, and a byte order mark with --bom", async () => {
    const { campaign } = await meanwhile(seedPerson())
    const { text } = await exported(campaign.id, "--reveal", "--bom")
    expect(text.startsWith("\uFEFFtoken,npi,email,state,")).toBe(true)
    expect(text).toContain(`,${person.npi},${person.email},refused_later,`)
    const { data } = await runJson("audit", "list", "--limit", "1")
    expect(data[0]).toMatchObject({ arguments: { campaign: campaign.id, reveal: true, bom: true, out: null } })
  })
})
