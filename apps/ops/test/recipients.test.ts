import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-recipients-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const file = (content: string | Uint8Array): string => {
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
  (await runJson("campaigns", "show", campaign)).progress.recipients

describe("an import", () => {
  it("adds every line, and a re-run adds nothing", async () => {
    const campaign = await draft()
    const path = csv(...lines(0, 2500))
    const nothingBad = {
      ...{ campaign_id: campaign, read_as: "UTF-8, comma-separated, with the header npi, email", remarks: [] },
      ...{ updated: 0, suppressed: 0, repeated: 0, bad_count: 0, bad_lines: [] },
    }
    expect(await runJson(...load(campaign, path))).toEqual({ ...nothingBad, imported: 2500, already_there: 0 })
    expect(await runJson(...load(campaign, path))).toEqual({ ...nothingBad, imported: 0, already_there: 2500 })
    expect(await count(campaign)).toBe(2500)
  })

  it("reads a byte order mark, CRLF, quotes, spaces and columns in the other order", async () => {
    const campaign = await draft()
    const path = file(`\uFEFF"Email", NPI\r\n\r\n"a@clinic.test" , ${npi(1)}\r\nb@clinic.test,"${npi(2)}"\r\n`)
    expect(await runJson(...load(campaign, path))).toMatchObject({ imported: 2, bad_count: 0 })
  })

  it("adds nothing when a line is bad, and names each by its number and reason alone", async () => {
    const campaign = await draft()
    const path = csv(line(1), "", `${npi(2)},no-address`, `12345,"two\nlines"`, "1234567890,x@clinic.test", "1,2,3")
    const bad = [
      { line: 4, reason: "the e-mail address is not valid" },
      { line: 5, reason: "the line has a quote that does not pair" },
      { line: 6, reason: "the line has 1 fields and the header 2" },
      { line: 7, reason: "the NPI's check digit is wrong" },
      { line: 8, reason: "the line has 3 fields and the header 2" },
    ]
    expect(await runFailing(...load(campaign, path))).toMatchObject({
      code: "bad_lines",
      imported: 0,
      bad_count: 5,
      bad_lines: bad,
      exit: 1,
    })
    const { code, stdout, stderr } = await run(load(campaign, path))
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    for (const { line, reason } of bad) expect(stderr).toContain(`line ${line}: ${reason}\n`)
    expect(stderr).not.toMatch(/no-address|12345|clinic\.test/)
    expect(await count(campaign)).toBe(0)

    expect(await runJson(...load(campaign, path, "--skip-bad"))).toMatchObject({ imported: 1, bad_lines: bad })
  })

  it("shows people the first hundred bad lines and how many more there are", async () => {
    const { stderr } = await run(load(await draft(), csv(...Array.from({ length: 130 }, () => "1,2"))))
    expect(stderr.match(/^line \d+: /gm)).toHaveLength(100)
    expect(stderr).toContain("and 30 more bad lines; --rejects FILE writes them all\n")
  })

  it("stops after the batch in which the database finds a bad line, and goes on when run again", async () => {
    const campaign = await draft()
    const clash = `${npi(7)},other@clinic.test`
    await runJson(...load(campaign, csv(line(7))))
    const path = csv(...lines(0, 7), ...lines(8, 1501), clash, ...lines(1501, 2500))
    const refused = await runFailing(...load(campaign, path))
    expect(refused).toMatchObject({
      code: "bad_lines",
      imported: 1999,
      bad_lines: [{ line: 1502, reason: "the campaign has this NPI with another e-mail address" }],
      exit: 1,
    })
    expect(refused.message).toMatch(/stopped there, with 1999 imported/)
    expect(await runJson(...load(campaign, path, "--skip-bad"))).toMatchObject({
      imported: 500,
      already_there: 1999,
      bad_count: 1,
    })
  })

  it.each([
    ["it does not exist", () => join(folder, "none.csv")],
    ["it is not a regular file, and a file is read twice", () => folder],
    ["a file is read twice; give a file's name", () => "-"],
    ["it is empty", () => file("")],
    ["it is empty", () => file("\n\r\n  \n")],
    [
      'its first line must name the columns npi and email, and lacks email; it names "npi", "phone"',
      () => file("npi,phone\n"),
    ],
    [
      'it has columns beside npi and email ("First Name", column 4, "Phone 2"); --ignore-columns leaves them out',
      () => file(`npi,email,First Name,${npi(1)},Phone 2\n`),
    ],
    [
      'its first line names npi more than once; name the one that counts by its place, such as --map "column 3=npi"',
      () => file("npi,email,NPI\n"),
    ],
    ["its first line has a quote that does not pair", () => file(`npi,"email\n${line(1)}\n`)],
    ["line 3 is longer than 64 KiB", () => csv(line(1), "x".repeat(200_000))],
    ["line 2 is longer than 64 KiB", () => csv(`"${"x".repeat(200_000)}`, line(1))],
  ])("refuses a file as a whole: %s", async (reason, path) => {
    const campaign = await draft()
    expect(await runFailing(...load(campaign, path(), "--skip-bad"))).toMatchObject({
      code: "unusable_file",
      reason,
      exit: 1,
    })
    expect(await count(campaign)).toBe(0)
  })

  it("reports each line whose quotes do not pair, and imports those between", async () => {
    const campaign = await draft()
    const path = csv(
      `"${line(1)}`,
      ...lines(2, 4),
      `${npi(4)},"clinician4@clinic.test`,
      line(5),
      `${npi(6)},clinician6@clinic.test"`,
      `"${npi(7)}"x,clinician7@clinic.test`,
      ...lines(8, 3000).map((text) => text.replace(/^\d+/, '"$&"')),
      `${npi(3000)},"clinician3000@clinic.test`,
      line(3001),
    )
    const unpaired = "the line has a quote that does not pair"
    const bad = [
      { line: 2, reason: unpaired },
      { line: 5, reason: unpaired },
      { line: 7, reason: "the e-mail address is not valid" },
      { line: 8, reason: unpaired },
      { line: 3001, reason: unpaired },
    ]
    expect(await runFailing(...load(campaign, path))).toMatchObject({ code: "bad_lines", imported: 0, bad_lines: bad })
    expect(await runJson(...load(campaign, path, "--skip-bad"))).toMatchObject({ imported: 2996, bad_lines: bad })
    expect(await count(campaign)).toBe(2996)
  })

  it("leaves out further columns when told to, also those that hold line ends", async () => {
    const campaign = await draft()
    const path = file(
      `Notes,npi,"",email,notes\n"one, \ntwo",${npi(1)},12",a@clinic.test,\n,${npi(2)},,b@clinic.test,"x"\n${line(3)}\n`,
    )
    expect(await runFailing(...load(campaign, path))).toMatchObject({
      code: "unusable_file",
      reason: 'it has columns beside npi and email ("Notes", column 3, "notes"); --ignore-columns leaves them out',
    })
    expect(await runJson(...load(campaign, path, "--ignore-columns", "--skip-bad"))).toMatchObject({
      imported: 2,
      bad_lines: [{ line: 5, reason: "the line has 2 fields and the header 5" }],
    })
  })

  it("does not let further columns name a column twice that counts", async () => {
    const path = file(`npi,email,Email,x\n`)
    expect(await runFailing(...load(await draft(), path, "--ignore-columns"))).toMatchObject({
      reason: expect.stringMatching(/^its first line names email more than once/),
    })
  })

  it("refuses a campaign that is under way", async () => {
    const campaign = await draft()
    await runJson("campaigns", "schedule", campaign, "--force", "recipients")
    expect(await runFailing(...load(campaign, csv(line(1))))).toMatchObject({
      code: "campaign_not_in_status",
      status: "scheduled",
    })
  })
})

describe("a list as people have it", () => {
  it("is read in the encoding and with the delimiter that it has, and both are said", async () => {
    const campaign = await draft()
    const text = `NPI;E-Mail;Vorname\r\n${npi(1)};jose@clinic.test;José\r\n${npi(2)};zoe@clinic.test;"Zoë; Anna"\r\n`
    const path = file(Buffer.from(text, "latin1"))
    const { stderr, code } = await run(
      load(campaign, path, "--map", "e-mail=email,Vorname=first_name", "--fields", "first_name"),
    )
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "Read as Windows-1252, semicolon-separated, with the header NPI, E-Mail, Vorname.\n",
    })
    const utf16 = file(Buffer.from(`\uFEFFemail\tnpi\n${line(3).split(",").reverse().join("\t")}\n`, "utf16le"))
    expect(await runJson(...load(campaign, utf16))).toMatchObject({
      read_as: "UTF-16LE, tab-separated, with the header email, npi",
      imported: 1,
    })
    const fields = await meanwhile(
      SqlClient.SqlClient.use((sql) => sql`select fields->>'first_name' as name from recipient_fields order by 1`),
    )
    expect(fields).toEqual(expect.arrayContaining([{ name: "José" }, { name: "Zoë; Anna" }]))
  })

  it("names the line whose bytes are of no encoding, or of another than the rest", async () => {
    const campaign = await draft()
    const mixed = Buffer.concat([
      Buffer.from(`npi,email,name\n${line(1)},José\n${line(2)},Zoë\n${line(3)},Jos`),
      Buffer.of(0xe9, 0x0a),
    ])
    expect(await runFailing(...load(campaign, file(mixed), "--ignore-columns"))).toMatchObject({
      bad_lines: [{ line: 4, reason: "the line has bytes that are not UTF-8, as the file is; save it as UTF-8" }],
    })
    const none = Buffer.from(`npi,email,name\n${line(1)},Jos\xE9\n${line(2)},\x8F\n${line(3)},\0\n`, "latin1")
    expect(await runFailing(...load(campaign, file(none), "--ignore-columns"))).toMatchObject({
      bad_lines: [
        { line: 3, reason: "the line has bytes that are not Windows-1252, as the file is; save it as UTF-8" },
        { line: 4, reason: "the line has a NUL byte" },
      ],
    })
  })

  it("gets the likely mapping offered where columns are not found, and takes what is offered", async () => {
    const campaign = await draft()
    const rows = [`1,${npi(1)},"Reyes, Dana",dana@clinic.test`, `2,${npi(2)},"Okafor, Sam",sam@clinic.test`]
    const path = file(["Row,NPI #,Name,Work e-mail", ...rows].join("\n"))
    const { reason } = await runFailing(...load(campaign, path))
    expect(reason).toBe(
      'its first line must name the columns npi and email, and lacks npi and email; it names "Row", "NPI #", "Name", "Work e-mail"; if they are meant so, add --map "NPI #=npi,Work e-mail=email"',
    )
    const [, map] = /--map "(.+)"$/.exec(reason)!
    expect(await runJson(...load(campaign, path, "--map", map!, "--ignore-columns"))).toMatchObject({ imported: 2 })
    // Without a header, columns are named by their places, and nothing of the first line is repeated.
    const bare = file(rows.join("\n"))
    expect((await runFailing(...load(campaign, bare))).reason).toBe(
      'its first line is that of a clinician, and no header that names the columns npi and email; if they are meant so, add --map "column 2=npi,column 4=email"',
    )
    const flags = ["--map", "column 2=npi, Column 4 = email", "--ignore-columns"]
    expect(await runJson(...load(campaign, bare, ...flags))).toMatchObject({
      read_as: "UTF-8, comma-separated, with no header",
      already_there: 2,
    })
  })

  it("gets the column of a field offered by its name, beside what is mapped already", async () => {
    const path = file(`NPI,Mail,FirstName\n${line(1)},Ada\n`)
    expect(
      (await runFailing(...load(await draft(), path, "--fields", "first_name", "--map", "Mail=email"))).reason,
    ).toContain('add --map "Mail=email,FirstName=first_name"')
  })

  it.each([
    [
      "a column that is not there",
      "E-Mail=email",
      /^--map names a column for email that it lacks; it has "npi", "email", "Work"$/,
    ],
    [
      "a column that takes the place of another",
      "Work=email",
      /columns beside npi and email \("email"\); --ignore-columns/,
    ],
  ])("maps %s", async (_, map, reason) => {
    expect((await runFailing(...load(await draft(), file("npi,email,Work\n"), "--map", map))).reason).toMatch(reason)
  })

  it.each([
    ["a=email,b=email", /email is named twice/],
    ["a=npi,A =email", /a column is named twice/],
    ["a=token", /such as "E-Mail=email/],
    ["email", /columns and what they hold/],
    ["", /such as "E-Mail=email/],
  ])("refuses --map %j", async (map, message) => {
    const { message: refused, exit } = await runFailing(...load(await draft(), csv(line(1)), "--map", map))
    expect({ refused, exit }).toEqual({ refused: expect.stringMatching(message), exit: 2 })
  })

  it("has each harm of a spreadsheet named, and what surrounds a value taken off and counted", async () => {
    const campaign = await draft()
    const path = csv(
      `1.23457E+09,a@b.test`,
      `'${npi(1)},mailto:a@clinic.test`,
      `${npi(2)}.0,b@clinic.test`,
      `,c@clinic.test`,
    )
    const { code, stderr } = await run(load(campaign, path, "--skip-bad"))
    expect({ code, lines: stderr.split("\n").slice(1) }).toEqual({
      code: 0,
      lines: [
        "1 line: an apostrophe before the NPI was taken off.",
        "1 line: mailto: before the e-mail address was taken off.",
        "1 line: a decimal zero after the NPI was taken off.",
        expect.stringMatching(
          /^line 2: the NPI was shortened by Excel, as in 1\.23457E\+09, and digits are lost: format /,
        ),
        "line 5: the line has no NPI",
        "",
      ],
    })
    expect(await runJson(...load(campaign, path, "--skip-bad"))).toMatchObject({ already_there: 2 })
  })

  it("has its repeated lines counted as such, and those that contradict each other named", async () => {
    const campaign = await draft()
    await runJson(...load(campaign, csv(line(1))))
    const path = csv(
      line(1),
      line(2),
      line(2).toUpperCase(),
      line(1),
      `${npi(3)},CLINICIAN2@clinic.test`,
      `${npi(2)},x@clinic.test`,
    )
    const bad = [
      { line: 6, reason: "line 3 has this e-mail address with another NPI: keep the line that is right" },
      { line: 7, reason: "line 3 has this NPI with another e-mail address: keep the line that is right" },
    ]
    expect(await runFailing(...load(campaign, path))).toMatchObject({ imported: 0, bad_lines: bad })
    expect(await runJson(...load(campaign, path, "--skip-bad"))).toMatchObject({
      ...{ imported: 1, already_there: 1, repeated: 2, bad_lines: bad },
    })
  })

  it("is shown as it is understood with --check, masked, with what an import would count, and nothing changes", async () => {
    const campaign = await draft()
    await runJson(...load(campaign, csv(line(1), `${npi(50)},taken@clinic.test`)))
    await runJson(
      "suppressions",
      "create",
      "--program",
      (await runJson("campaigns", "show", campaign)).program_id,
      "--npi",
      npi(2),
    )
    const rows = [...lines(1, 30), line(3), "12,x@clinic.test", `${npi(50)},other@clinic.test`].map(
      (row) => `${row},Zoë ${npi(0)}`,
    )
    const path = file(["npi,email,First Name", `=1,a@b.test,x`, ...rows].join("\n"))
    const flags = ["--fields", "first_name", "--check"]
    const report = await runJson(...load(campaign, path, ...flags))
    expect(report).toMatchObject({
      ...{ would_import: 27, already_there: 1, suppressed: 1, repeated: 1, bad_count: 3 },
      bad_lines: [
        { line: 2 },
        { line: 33 },
        { line: 34, reason: "the campaign has this NPI with another e-mail address" },
      ],
    })
    expect(report.first).toHaveLength(10)
    expect(report.first.slice(0, 2)).toEqual([
      { line: 2, npi: null, email: null, fields: {}, fault: expect.stringContaining("the NPI is a formula") },
      {
        ...{ line: 3, npi: `••••••${npi(1).slice(-4)}`, email: "c•••@clinic.test" },
        ...{ fields: { first_name: `Zoë ••••••${npi(0).slice(-4)}` }, fault: null },
      },
    ])
    expect(await count(campaign)).toBe(2)
    const { stdout } = await run(load(campaign, path, ...flags))
    expect(stdout).toMatch(/^line +npi +email +first_name +fault\n2 +– +– +– +the NPI is a formula/)
    expect(stdout).toMatch(/^would_import +27$/m)
    expect(stdout).not.toMatch(/clinician\d+@|\b\d{10}\b/)
    expect(await runJson(...load(campaign, path, "--fields", "first_name", "--skip-bad"))).toMatchObject({
      imported: 27,
    })
  })

  it("may have a header and nothing else", async () => {
    expect(await runJson(...load(await draft(), csv(), "--check"))).toMatchObject({
      would_import: 0,
      first: [],
      bad_count: 0,
    })
  })
})

describe("an import into a campaign with hours", () => {
  const draftWithHours = async () => (await meanwhile(seedCampaign({ recipients: 0, hours: "8-18" }))).campaign.id
  const places = (campaign: string) =>
    meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          select npi, time_zones as "timeZones" from recipients
          left join recipient_fields on recipient_fields.organization_id = recipients.organization_id and recipient_id = id
          where campaign_id = ${campaign} order by npi`,
      ),
    )

  it("takes the columns that say where recipients are, and counts those without a place", async () => {
    const campaign = await draftWithHours()
    const rows = [`${line(1)},Florida,`, `${line(2)},FL,America/Chicago`, `${line(3)},,`, `${line(4)},,Europe/Berlin`]
    const path = file(["npi,email,State,Time Zone", ...rows].join("\n"))
    expect(await runJson(...load(campaign, path))).toMatchObject({ imported: 4, without_place: 1 })
    expect(await places(campaign)).toEqual([
      { npi: npi(1), timeZones: ["America/New_York", "America/Chicago"] },
      { npi: npi(2), timeZones: ["America/Chicago"] },
      { npi: npi(3), timeZones: null },
      { npi: npi(4), timeZones: ["Europe/Berlin"] },
    ])
    const moved = file(["npi,email,state", `${line(1)},Florida`, `${line(3)},NY`].join("\n"))
    expect(await runJson(...load(campaign, moved))).toMatchObject({ updated: 1, already_there: 1, without_place: 0 })
    expect((await places(campaign))[2]).toEqual({ npi: npi(3), timeZones: ["America/New_York"] })
  })

  it("names each line with a place that is not known, and repeats nothing of it", async () => {
    const rows = [`${line(1)},Gotham,`, `${line(2)},NY,Eastern`, `${line(3)},NY,`]
    const path = file(["npi,email,state,time_zone", ...rows].join("\n"))
    const bad = [
      { line: 2, reason: "the state is not one of the United States or their territories, such as NY or New York" },
      { line: 3, reason: "the time_zone is not a name of the IANA time zone database, such as America/New_York" },
    ]
    const refused = await runFailing(...load(await draftWithHours(), path))
    expect(refused).toMatchObject({ code: "bad_lines", imported: 0, bad_lines: bad })
    expect(JSON.stringify(refused)).not.toMatch(/Gotham|Eastern/)
    const elsewhere = await draft()
    expect(await runJson(...load(elsewhere, path, "--fields", "state,time_zone"))).toMatchObject({ imported: 3 })
    expect(await places(elsewhere)).toEqual([
      { npi: npi(1), timeZones: null },
      { npi: npi(2), timeZones: null },
      { npi: npi(3), timeZones: ["America/New_York"] },
    ])
  })

  it("needs no such column, and says that all are without a place", async () => {
    const { stdout } = await run(load(await draftWithHours(), csv(line(1), line(2))))
    expect(stdout).toMatch(/^without_place +2$/m)
    expect((await run(load(await draft(), csv(line(1))))).stdout).not.toContain("without_place")
  })
})

describe("an import with --fields", () => {
  const fieldsOf = (campaign: string) =>
    meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql<{ npi: string; fields: object }>`
          select npi, fields from recipients
          join recipient_fields on recipient_fields.organization_id = recipients.organization_id and recipient_id = id
          where campaign_id = ${campaign} order by npi`,
      ),
    )
  const cell = (value: string): string => `"${value.replaceAll('"', '""')}"`

  it("keeps the columns that are named, and the others only when told to leave them out", async () => {
    const campaign = await draft()
    const path = file(
      `First Name,npi,state,email,Notes\nAda,${npi(1)}, NY ,a@clinic.test,x\n,${npi(2)},,b@clinic.test,\n`,
    )
    expect(await runFailing(...load(campaign, path, "--fields", "first_name,state"))).toMatchObject({
      reason: 'it has columns beside npi, email, first_name and state ("Notes"); --ignore-columns leaves them out',
    })
    const flags = ["--fields", "first_name, State", "--ignore-columns"]
    expect(await runJson(...load(campaign, path, ...flags))).toMatchObject({ imported: 2, bad_count: 0 })
    expect(await fieldsOf(campaign)).toEqual([
      { npi: npi(1), fields: { first_name: "Ada", state: "NY" } },
      { npi: npi(2), fields: {} },
    ])
    // Without --fields, the fields of earlier imports stay.
    const plain = csv(`${npi(1)},a@clinic.test`, `${npi(3)},c@clinic.test`)
    expect(await runJson(...load(campaign, plain))).toMatchObject({ imported: 1, updated: 0, already_there: 1 })
    expect(await fieldsOf(campaign)).toEqual([
      { npi: npi(1), fields: { first_name: "Ada", state: "NY" } },
      { npi: npi(2), fields: {} },
    ])
  })

  it("keeps every column as it was with all, and replaces them when the same lines are imported again", async () => {
    const campaign = await draft()
    const value = fc
      .string({ unit: "grapheme", maxLength: 40 })
      .filter((text) => text.trim() !== "" && !/[\p{Cc}\uFFFD]/u.test(text))
      .map((text) => `${text}\r\n, "${text}"`)
    const import_ = async (values: ReadonlyArray<string>) => {
      const rows = values.map((text, i) => `${line(i)},${cell(text)}`)
      return runJson(...load(campaign, file(["npi,email,Any-thing", ...rows].join("\n")), "--fields", "all"))
    }
    for (const [seed, counts] of [
      [1, { imported: 50, updated: 0 }],
      [2, { imported: 0, updated: 50 }],
    ] as const) {
      const values = fc.sample(value, { numRuns: 50, seed }).map((text, i) => `${seed}${i} ${text}`)
      expect(await import_(values)).toMatchObject({ ...counts, bad_count: 0 })
      expect(await fieldsOf(campaign)).toEqual(values.map((text, i) => ({ npi: npi(i), fields: { any_thing: text } })))
    }
  })

  it("names each line whose fields are too long or not text, and repeats nothing of it", async () => {
    const path = file(
      ["npi,email,note", `${line(1)},${"é".repeat(1100)}`, `${line(2)},a\u0007b`, `${line(3)},fine`].join("\n"),
    )
    const bad = [
      { line: 2, reason: "the fields take 2211 bytes, and 2048 is the most" },
      { line: 3, reason: "the field note holds a control character, or is not UTF-8" },
    ]
    const campaign = await draft()
    expect(await runFailing(...load(campaign, path, "--fields", "all"))).toMatchObject({ bad_lines: bad })
    expect(await runJson(...load(campaign, path, "--fields", "note", "--skip-bad"))).toMatchObject({ imported: 1 })
  })

  it.each([
    [
      "its first line lacks a column for state, of the fields of the campaign and of --fields",
      "npi,email,name",
      "name,state",
    ],
    ["its first line names the field first_name more than once", "npi,email,First Name,first-name", "all"],
    [
      '"Token" cannot be a field: the name has another meaning already; rename it, or name the others with --fields',
      "npi,email,Token",
      "all",
    ],
    [
      "column 3 cannot be a field: the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first; rename it, or name the others with --fields",
      "npi,email,2nd line",
      "all",
    ],
  ])("refuses a file as a whole: %s", async (reason, header, fields) => {
    expect(await runFailing(...load(await draft(), file(`${header}\n`), "--fields", fields))).toMatchObject({
      code: "unusable_file",
      reason,
    })
  })

  it("refuses names that are not fields", async () => {
    const { code, stderr } = await run(load(await draft(), csv(line(1)), "--fields", "token"))
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("names of fields such as first_name") })
  })
})

describe("an import into a campaign with fields", () => {
  const create = async (...flags: ReadonlyArray<string>) => {
    const { program } = await meanwhile(seedCampaign({ recipients: 0 }))
    const html = join(folder, `${files++}.html`)
    writeFileSync(
      html,
      `<p>{{ specialty | default: "Medicine" }}: {{ token }}</p><p>{{ sender_name }}, {{ postal_address }} <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`,
    )
    return [
      ...["campaigns", "create", "--program", program.id, "--name", "Spring", "--subject", "For {{ first_name }}"],
      ...["--html", html, "--window-start", "2099-03-01T09:00:00Z", "--window-end", "2099-03-08T09:00:00Z", ...flags],
    ]
  }

  it("needs a column for each, and names each line that lacks one without a default", async () => {
    const { id, fields } = await runJson(...(await create("--fields", "first_name,specialty")))
    expect(fields).toEqual(["first_name", "specialty"])
    expect(await runFailing(...load(id, file(`npi,email,first_name\n${line(1)},Ada\n`)))).toMatchObject({
      reason: "its first line lacks a column for specialty, of the fields of the campaign and of --fields",
    })
    const path = file(["npi,email,first_name,specialty", `${line(1)},Ada,`, `${line(2)},"  ",Oncology`].join("\n"))
    expect(await runFailing(...load(id, path))).toMatchObject({
      code: "bad_lines",
      bad_lines: [{ line: 3, reason: "the subject needs first_name, which is missing" }],
    })
    expect(await runJson(...load(id, path, "--skip-bad"))).toMatchObject({ imported: 1, bad_count: 1 })
  })

  it("begins with their names: a template that names another is refused", async () => {
    expect(await runFailing(...(await create("--fields", "specialty")))).toMatchObject({
      code: "invalid_template",
      part: "subject",
      reason: "it names first_name, which is neither a variable of every template nor a field that --fields declares",
    })
  })
})

describe("an import with --rejects", () => {
  const rejectsFile = () => join(folder, `rejects-${files++}.csv`)

  it("writes refused lines with their numbers and reasons, to be mended and imported", async () => {
    const campaign = await draft()
    const rejects = rejectsFile()
    const clash = `${npi(9)},other@clinic.test`
    await runJson(...load(campaign, csv(line(9))))
    const path = csv(line(1), `"${line(2)}`, line(3), `${line(4)},x`, clash, line(6))
    const flags = ["--skip-bad", "--rejects", rejects]
    expect(await runJson(...load(campaign, path, ...flags))).toMatchObject({ imported: 3, bad_count: 3 })
    expect(readFileSync(rejects, "utf8")).toBe(
      [
        "line,reason,npi,email",
        `3,"the line has a quote that does not pair","${line(2)}`,
        `5,"the line has 3 fields and the header 2",${line(4)},x`,
        `6,"the campaign has this NPI with another e-mail address",${clash}`,
        "",
      ].join("\n"),
    )
    expect(statSync(rejects).mode & 0o777).toBe(0o600)
    const mended = file(
      readFileSync(rejects, "utf8")
        .replace(`"${line(2)}`, line(2))
        .replace(",x\n", "\n")
        .replace(clash, line(5)),
    )
    expect(await runJson(...load(campaign, mended, "--ignore-columns"))).toMatchObject({ imported: 3, bad_count: 0 })
    expect(await count(campaign)).toBe(7)
  })

  it("writes all refused lines of a file of which nothing is imported, beyond those that are reported", async () => {
    const campaign = await draft()
    const rejects = rejectsFile()
    const path = csv(line(1), ...Array.from({ length: 10_050 }, (_, i) => `${i},x`))
    expect(await runFailing(...load(campaign, path, "--rejects", rejects))).toMatchObject({
      code: "bad_lines",
      imported: 0,
      bad_count: 10_050,
    })
    const written = readFileSync(rejects, "utf8").trim().split("\n")
    expect(written).toHaveLength(10_051)
    expect(written.at(-1)).toMatch(/^10052,"the NPI has too few digits .*",10049,x$/)
    expect(await count(campaign)).toBe(0)
  })

  it("leaves no file when no line is refused, and none when the import fails otherwise", async () => {
    const campaign = await draft()
    const rejects = rejectsFile()
    expect(await runJson(...load(campaign, csv(line(1)), "--rejects", rejects))).toMatchObject({ imported: 1 })
    expect(existsSync(rejects)).toBe(false)
    const unusable = csv("1,2", "x".repeat(200_000))
    expect(await runFailing(...load(campaign, unusable, "--rejects", rejects))).toMatchObject({ code: "unusable_file" })
    expect(existsSync(rejects)).toBe(false)
  })

  it.each([
    ["it exists already, and nothing is overwritten", () => file("mine")],
    ["it exists already, and nothing is overwritten", () => folder],
    ["its folder does not exist", () => join(folder, "none", "rejects.csv")],
  ])("refuses a file before anything is imported: %s", async (reason, path) => {
    const campaign = await draft()
    const rejects = path()
    const before = existsSync(rejects) && statSync(rejects).isFile() ? readFileSync(rejects, "utf8") : undefined
    const refused = await runFailing(...load(campaign, csv(line(1), "1,2"), "--skip-bad", "--rejects", rejects))
    expect(refused).toMatchObject({ code: "unusable_rejects_file", reason, exit: 1 })
    expect(refused.message).toBe(`The refused lines cannot be written to ${rejects}: ${reason}.`)
    if (before !== undefined) expect(readFileSync(rejects, "utf8")).toBe(before)
    expect(await count(campaign)).toBe(0)
  })
})
