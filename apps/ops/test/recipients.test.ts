import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/postgres/test/seedCampaign"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, answer, refusal, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-recipients-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const file = (content: string): string => {
  const path = join(folder, `${files++}.csv`)
  writeFileSync(path, content)
  return path
}
const csv = (...lines: ReadonlyArray<string>): string => file(["npi,email", ...lines].join("\n"))
const line = (i: number): string => `${npi(i)},clinician${i}@clinic.test`
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i))

const draft = async (): Promise<string> => (await meanwhile(seedCampaign({ recipients: 0 }))).campaign.id
const load = (campaign: string, path: string, ...flags: ReadonlyArray<string>) => [
  ...["recipients", "import", "--campaign", campaign, path],
  ...flags,
]
const count = async (campaign: string): Promise<number> =>
  (await answer("campaigns", "show", campaign)).progress.recipients

describe("an import", () => {
  it("adds every line, and a re-run adds nothing", async () => {
    const campaign = await draft()
    const path = csv(...lines(0, 2500))
    const nothingBad = { campaign_id: campaign, suppressed: 0, bad_count: 0, bad_lines: [] }
    expect(await answer(...load(campaign, path))).toEqual({ ...nothingBad, imported: 2500, already_there: 0 })
    expect(await answer(...load(campaign, path))).toEqual({ ...nothingBad, imported: 0, already_there: 2500 })
    expect(await count(campaign)).toBe(2500)
  })

  it("reads a byte order mark, CRLF, quotes, spaces and columns in the other order", async () => {
    const campaign = await draft()
    const path = file(`\uFEFF"Email", NPI\r\n\r\n"a@clinic.test" , ${npi(1)}\r\nb@clinic.test,"${npi(2)}"\r\n`)
    expect(await answer(...load(campaign, path))).toMatchObject({ imported: 2, bad_count: 0 })
  })

  it("adds nothing when a line is bad, and names each by its number and reason alone", async () => {
    const campaign = await draft()
    const path = csv(line(1), "", `${npi(2)},no-address`, `12345,"two\nlines"`, "1234567890,x@clinic.test", "1,2,3")
    const bad = [
      { line: 4, reason: "the e-mail address is not valid" },
      { line: 5, reason: "the NPI is not ten digits" },
      { line: 7, reason: "the NPI's check digit is wrong" },
      { line: 8, reason: "the line has 3 fields and the header 2" },
    ]
    expect(await refusal(...load(campaign, path))).toMatchObject({
      code: "bad_lines",
      imported: 0,
      bad_count: 4,
      bad_lines: bad,
      exit: 1,
    })
    const { code, stdout, stderr } = await run(load(campaign, path))
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    for (const { line, reason } of bad) expect(stderr).toContain(`line ${line}: ${reason}\n`)
    expect(stderr).not.toMatch(/no-address|12345|clinic\.test/)
    expect(await count(campaign)).toBe(0)

    expect(await answer(...load(campaign, path, "--skip-bad"))).toMatchObject({ imported: 1, bad_lines: bad })
  })

  it("shows people the first hundred bad lines and how many more there are", async () => {
    const { stderr } = await run(load(await draft(), csv(...Array.from({ length: 130 }, () => "1,2"))))
    expect(stderr.match(/^line \d+: /gm)).toHaveLength(100)
    expect(stderr).toContain("and 30 more bad lines\n")
  })

  it("stops after the batch in which the database finds a bad line, and goes on when run again", async () => {
    const campaign = await draft()
    const clash = `${npi(7)},other@clinic.test`
    const path = csv(...lines(0, 1500), clash, ...lines(1500, 2500))
    const refused = await refusal(...load(campaign, path))
    expect(refused).toMatchObject({
      code: "bad_lines",
      imported: 1999,
      bad_lines: [{ line: 1502, reason: "the campaign has this NPI with another e-mail address" }],
      exit: 1,
    })
    expect(refused.message).toMatch(/stopped there, with 1999 imported/)
    expect(await answer(...load(campaign, path, "--skip-bad"))).toMatchObject({
      imported: 501,
      already_there: 1999,
      bad_count: 1,
    })
  })

  it.each([
    ["it does not exist", () => join(folder, "none.csv")],
    ["it is no regular file, and a file is read twice", () => folder],
    ["a file is read twice; give a file's name", () => "-"],
    ["it is empty", () => file("")],
    ["it is empty", () => file("\n\r\n  \n")],
    ["its first line must name the columns npi and email, and lacks email", () => file("npi,mail\n")],
    [
      `its columns must be npi and email alone, and column 3 ("first name") is surplus`,
      () => file("npi,email,First Name\n"),
    ],
    [`its columns must be npi and email alone, and column 3 ("npi") is surplus`, () => file("npi,email,npi\n")],
    ["its first line must name the columns npi and email, and lacks npi and email", () => file(`${line(1)}\n`)],
    ["its columns must be npi and email alone, and column 3 is surplus", () => file(`npi,email,${npi(1)}\n`)],
    ["line 3 has quotes that do not pair, or is longer than 64 KiB", () => csv(line(1), `"${line(2)}`, ...lines(3, 9))],
    ["line 2 has quotes that do not pair, or is longer than 64 KiB", () => csv("x".repeat(200_000))],
  ])("refuses a file as a whole: %s", async (reason, path) => {
    const campaign = await draft()
    expect(await refusal(...load(campaign, path(), "--skip-bad"))).toMatchObject({
      code: "unusable_file",
      reason,
      exit: 1,
    })
    expect(await count(campaign)).toBe(0)
  })

  it("refuses a campaign that is under way", async () => {
    const campaign = await draft()
    await answer("campaigns", "schedule", campaign)
    expect(await refusal(...load(campaign, csv(line(1))))).toMatchObject({
      code: "campaign_not_in_status",
      status: "scheduled",
    })
  })
})
