import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId, ImportId } from "@outreach/domain/Identifier"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { parseInput } from "@outreach/domain/textSchema"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect, Result } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { ColumnMapText } from "../../src/csv/ColumnMap.ts"
import { createRejectsFile, RejectsFile } from "../../src/csv/readLines.ts"
import { ImportLog, MAX_KEPT } from "../../src/recipients/ImportLog.ts"
import { importFile } from "../../src/recipients/importFile.ts"

const { run, test } = testsOnDatabase({ layer: NodeServices.layer })

const folder = temporaryFolder("import-file", afterAll)

let files = 0
const file = (content: string | Uint8Array): string => {
  const path = join(folder, `jane.doe@clinic.test ${files++}.csv`)
  writeFileSync(path, content)
  return path
}
const csv = (...lines: ReadonlyArray<string>): string => file(["npi,email", ...lines].join("\n"))
const line = (i: number): string => `${npi(i)},clinician${i}@clinic.test`
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i))

type Options = Partial<Omit<Parameters<typeof importFile>[2], "map">> & { readonly map?: string }

const load = (campaign: CampaignId, path: string, { map, ...options }: Options = {}) =>
  importFile(campaign, path, {
    operator: "Dana",
    ...(map !== undefined && { map: Result.getOrThrow(parseInput(ColumnMapText)(map)) }),
    ...options,
  })
const loadFailing = (...args: Parameters<typeof load>) => Effect.flip(load(...args))

const draft = (options: Omit<Parameters<typeof seedCampaign>[0], "recipients"> = {}) =>
  Effect.map(seedCampaign({ recipients: 0, ...options }), ({ campaign }) => campaign.id)

const stored = (campaign: CampaignId) =>
  sql<{ npi: string; fields: object | null }>`
    select npi, fields from recipients
    left join recipient_fields on recipient_fields.organization_id = recipients.organization_id and recipient_id = id
    where campaign_id = ${campaign} order by npi`
const count = (campaign: CampaignId) => Effect.map(stored(campaign), ({ length }) => length)

const recorded = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaign = yield* (yield* CampaignRepository).find(campaignId)
  return yield* (yield* ImportLog).list(campaign, { limit: 1000 })
})

describe("an import", () => {
  test("adds every line in batches, and none on repetition", function* () {
    const campaign = yield* draft()
    const path = csv(...lines(0, 1100))
    const report = {
      ...{ readAs: "UTF-8, comma-separated, with the header npi, email", first: undefined },
      ...{ updated: 0, suppressed: 0, repeated: 0, badCount: 0, badLines: [] },
    }
    expect(yield* load(campaign, path)).toEqual({ ...report, imported: 1100, alreadyThere: 0 })
    expect(yield* load(campaign, path)).toEqual({ ...report, imported: 0, alreadyThere: 1100 })
    expect(yield* count(campaign)).toBe(1100)
  })

  test("adds no lines if one is invalid, and reports each invalid line by number and reason", function* () {
    const campaign = yield* draft()
    const path = csv(line(1), "", `${npi(2)},no-address`, `12345,"two\nlines"`, "1234567890,x@clinic.test", "1,2,3")
    const badLines = [
      { line: 4, reason: "the e-mail address is not valid" },
      { line: 5, reason: "the line has a quote that does not pair" },
      { line: 6, reason: "the line has 1 fields and the header 2" },
      { line: 7, reason: "the NPI's check digit is wrong" },
      { line: 8, reason: "the line has 3 fields and the header 2" },
    ]
    const refused = yield* loadFailing(campaign, path)
    expect(refused).toMatchObject({ _tag: "BadLines", imported: 0, badCount: 5, badLines })
    expect(refused.message).not.toMatch(/no-address|12345|clinic\.test/)
    expect(yield* count(campaign)).toBe(0)
    expect(yield* load(campaign, path, { skipBad: true })).toMatchObject({ imported: 1, badLines })
  })

  test("stops after a batch with a line that the database rejects, and continues when it is repeated", function* () {
    const campaign = yield* draft()
    yield* load(campaign, csv(line(7)))
    const clash = `${npi(7)},other@clinic.test`
    const path = csv(...lines(0, 7), clash, ...lines(8, 1100))
    const refused = yield* loadFailing(campaign, path)
    const badLines = [{ line: 9, reason: "the campaign has this NPI with another e-mail address" }]
    expect(refused).toMatchObject({ _tag: "BadLines", imported: 999, badLines })
    expect(refused.message).toMatch(/stopped there, with 999 imported/)
    const rest = yield* load(campaign, path, { skipBad: true })
    expect(rest).toMatchObject({ imported: 100, alreadyThere: 999, badCount: 1 })
  })

  test("counts repeated lines, and reports contradictory ones", function* () {
    const campaign = yield* draft()
    yield* load(campaign, csv(line(1)))
    const path = csv(
      ...[line(1), line(2), line(2).toUpperCase(), line(1)],
      ...[`${npi(3)},CLINICIAN2@clinic.test`, `${npi(2)},x@clinic.test`],
    )
    const badLines = [
      { line: 6, reason: "line 3 has this e-mail address with another NPI: keep the line that is right" },
      { line: 7, reason: "line 3 has this NPI with another e-mail address: keep the line that is right" },
    ]
    expect(yield* loadFailing(campaign, path)).toMatchObject({ imported: 0, badLines })
    const report = { imported: 1, alreadyThere: 1, repeated: 2, badLines }
    expect(yield* load(campaign, path, { skipBad: true })).toMatchObject(report)
    const accents = file(`npi,email\n${npi(9)},José@büro.test\n${npi(9)},jose\u0301@xn--bro-hoa.test\n`)
    expect(yield* load(campaign, accents)).toMatchObject({ imported: 1, repeated: 1 })
  })

  it.each<[reason: string, path: () => string, options?: Options]>([
    ["it does not exist", () => join(folder, "none.csv")],
    ["it is not a regular file, and a file is read more than once", () => folder],
    ["a file is read more than once; give a file's name", () => "-"],
    ["it is empty", () => file("")],
    ["it is empty", () => file("\n\r\n  \n")],
    [
      'its first line must name the columns npi and email, and lacks email; it names "npi", "phone"; --map gives columns these names',
      () => file("npi,phone\n"),
    ],
    [
      'it has columns beside npi and email ("First Name", column 4, "Phone 2"); --ignore-columns leaves them out',
      () => file(`npi,email,First Name,${npi(1)},Phone 2\n`),
    ],
    [
      `its first line names npi more than once; name the one that counts by its place, such as --map 'column 3=npi'`,
      () => file("npi,email,NPI\n"),
      { ignoreColumns: true },
    ],
    ["its first line has a quote that does not pair", () => file(`npi,"email\n${line(1)}\n`)],
    ["line 3 is longer than 64 KiB", () => csv(line(1), "x".repeat(200_000))],
    ["line 2 is longer than 64 KiB", () => csv(`"${"x".repeat(200_000)}`, line(1))],
    [
      '--map names a column for email that it lacks; it has "npi", "email", "Work"',
      () => file("npi,email,Work\n"),
      { map: "E-Mail=email" },
    ],
    [
      'it has columns beside npi and email ("email"); --ignore-columns leaves them out',
      () => file("npi,email,Work\n"),
      { map: "Work=email" },
    ],
    [
      'it has columns beside npi, email, first_name and state ("Notes"); --ignore-columns leaves them out',
      () => file("First Name,npi,state,email,Notes\n"),
      { fields: ["first_name", "state"] },
    ],
    [
      "its first line lacks a column for state, of the fields of the campaign and of --fields",
      () => file("npi,email,name\n"),
      { fields: ["name", "state"] },
    ],
    [
      "its first line names the field first_name more than once",
      () => file("npi,email,First Name,first-name\n"),
      { fields: "all" },
    ],
    [
      '"Token" cannot be a field: the name has another meaning already; rename it, or name the others with --fields',
      () => file("npi,email,Token\n"),
      { fields: "all" },
    ],
    [
      "column 3 cannot be a field: the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first; rename it, or name the others with --fields",
      () => file("npi,email,2nd line\n"),
      { fields: "all" },
    ],
  ])("rejects a whole file: %s", async (reason, path, options) => {
    const refused = await run(
      Effect.flatMap(draft(), (campaign) => loadFailing(campaign, path(), { skipBad: true, ...options })),
    )
    expect(refused).toMatchObject({ _tag: "UnusableFile", reason })
  })
})

describe("a typical spreadsheet export", () => {
  test("is read in its encoding and with its delimiter, and the report contains both", function* () {
    const campaign = yield* draft()
    const text = `NPI;E-Mail;Vorname\r\n${npi(1)};jose@clinic.test;José\r\n${npi(2)};zoe@clinic.test;"Zoë; Anna"\r\n`
    const mapped = { map: "e-mail=email,Vorname=first_name", fields: ["first_name"] }
    expect(yield* load(campaign, file(Buffer.from(text, "latin1")), mapped)).toMatchObject({
      readAs: "Windows-1252, semicolon-separated, with the header NPI, E-Mail, Vorname",
    })
    expect(yield* stored(campaign)).toMatchObject([
      { fields: { first_name: "José" } },
      { fields: { first_name: "Zoë; Anna" } },
    ])
    const utf16 = file(Buffer.from(`\uFEFFemail\tnpi\n${line(3).split(",").reverse().join("\t")}\n`, "utf16le"))
    const readAs = "UTF-16LE, tab-separated, with the header email, npi"
    expect(yield* load(campaign, utf16)).toMatchObject({ readAs, imported: 1 })
  })

  test("has each line reported that isn't in its encoding", function* () {
    const campaign = yield* draft()
    const none = Buffer.from(`npi,email,name\n${line(1)},Jos\xE9\n${line(2)},\x8F\n${line(3)},\0\n`, "latin1")
    expect(yield* loadFailing(campaign, file(none), { ignoreColumns: true })).toMatchObject({
      badLines: [
        { line: 3, reason: "the line has bytes that are not WINDOWS-1252, as the file is; save it as UTF-8" },
        { line: 4, reason: "the line has a NUL byte" },
      ],
    })
  })

  test("is read with the mapped columns, with or without a header", function* () {
    const campaign = yield* draft()
    const rows = [`1,${npi(1)},"Reyes, Dana",dana@clinic.test`, `2,${npi(2)},"Okafor, Sam",sam@clinic.test`]
    const path = file(["Row,NPI #,Name,Work e-mail", ...rows].join("\n"))
    expect(yield* loadFailing(campaign, path)).toMatchObject({
      reason: `its first line must name the columns npi and email, and lacks npi and email; it names "Row", "NPI #", "Name", "Work e-mail"; --map gives columns these names`,
    })
    const mapped = { map: "NPI #=npi,Work e-mail=email", ignoreColumns: true }
    expect(yield* load(campaign, path, mapped)).toMatchObject({ imported: 2 })
    // Without a header, columns are named by position, and the report doesn't contain the first line.
    const bare = file(rows.join("\n"))
    expect(yield* loadFailing(campaign, bare)).toMatchObject({
      reason: `its first line is that of a clinician, and no header that names the columns npi and email; name them with --map, such as --map 'column 1=npi,column 2=email'`,
    })
    const places = { map: "column 2=npi, Column 4 = email", ignoreColumns: true }
    expect(yield* load(campaign, bare, places)).toMatchObject({
      ...{ readAs: "UTF-8, comma-separated, with no header", alreadyThere: 2 },
    })
    // A mapped column replaces the one with its name.
    const both = file(["npi,email,First Name,Given", `${line(3)},Nn,Ada`].join("\n"))
    const replaced = { map: "Given=first_name", ignoreColumns: true }
    expect(yield* load(campaign, both, replaced)).toMatchObject({ imported: 1 })
    expect((yield* stored(campaign)).map(({ fields }) => fields)).toContainEqual({ first_name: "Ada" })
  })

  test("can be checked only, with its first lines masked and the counts of an import", function* () {
    const { campaign, program } = yield* seedCampaign({ recipients: 0 })
    yield* load(campaign.id, csv(line(1), `${npi(50)},taken@clinic.test`))
    yield* suppressClinicians({ programId: program.id }, [{ npi: npi(2), email: null }], "operator")
    const rows = [...lines(1, 30), line(3), "12,x@clinic.test", `${npi(50)},other@clinic.test`]
    const named = rows.map((row) => `${row},Zoë ${npi(0)}`)
    const path = file(["npi,email,First Name", `=1,a@b.test,x`, ...named].join("\n"))
    const report = yield* load(campaign.id, path, { fields: ["first_name"], check: true })
    expect(report).toMatchObject({
      ...{ imported: 27, alreadyThere: 1, suppressed: 1, repeated: 1, badCount: 3 },
      badLines: [
        { line: 2 },
        { line: 33 },
        { line: 34, reason: "the campaign has this NPI with another e-mail address" },
      ],
    })
    expect(report.first).toHaveLength(10)
    expect(report.first!.slice(0, 2)).toEqual([
      {
        line: 2,
        npi: "••••••=1",
        email: "a•••@b.test",
        fields: { first_name: "x" },
        fault: "the NPI is not ten digits",
      },
      {
        ...{ line: 3, npi: `••••••${npi(1).slice(-4)}`, email: "c•••@clinic.test" },
        ...{ fields: { first_name: `Zoë ••••••${npi(0).slice(-4)}` }, fault: null },
      },
    ])
    expect(yield* count(campaign.id)).toBe(2)
    const empty = yield* load(campaign.id, csv(), { check: true })
    expect(empty).toMatchObject({ imported: 0, first: [], badCount: 0 })
    // Checks aren't recorded.
    expect(yield* recorded(campaign.id)).toHaveLength(1)
  })
})

describe("an import with fields", () => {
  test("stores the named columns, and keeps the fields of earlier imports", function* () {
    const campaign = yield* draft()
    const rows = `Ada,${npi(1)}, NY ,a@clinic.test,x\n,${npi(2)},,b@clinic.test,\n`
    const options = { fields: ["first_name", "state"], ignoreColumns: true }
    expect(yield* load(campaign, file(`First Name,npi,state,email,Notes\n${rows}`), options)).toMatchObject({
      ...{ imported: 2, badCount: 0 },
    })
    const fields = [{ fields: { first_name: "Ada", state: "NY" } }, { fields: {} }]
    expect(yield* stored(campaign)).toMatchObject(fields)
    const plain = csv(`${npi(1)},a@clinic.test`, `${npi(3)},c@clinic.test`)
    expect(yield* load(campaign, plain)).toMatchObject({ imported: 1, updated: 0, alreadyThere: 1 })
    expect(yield* stored(campaign)).toMatchObject([...fields, { fields: null }])
  })

  test("stores every column unchanged with `all`, and replaces the fields of lines that are imported again", function* () {
    const campaign = yield* draft({ fields: ["any_thing"] })
    expect(yield* loadFailing(campaign, csv(line(0)))).toMatchObject({
      reason: "its first line lacks a column for any_thing, of the fields of the campaign and of --fields",
    })
    for (const [value, counts] of [
      ['🇨🇭 ‘quoted’\r\n, "text"', { imported: 1, updated: 0 }],
      ['e\u0301, \t=1+1\n""', { imported: 0, updated: 1 }],
    ] as const) {
      const path = file(`npi,email,Any-thing\n${line(0)},"${value.replaceAll('"', '""')}"`)
      expect(yield* load(campaign, path, { fields: "all" })).toMatchObject({ ...counts, badCount: 0 })
      expect(yield* stored(campaign)).toMatchObject([{ fields: { any_thing: value } }])
    }
  })
})

describe("the file of rejected lines", () => {
  const loadWith = (campaign: CampaignId, path: string, rejects: string, options: Options = {}) =>
    Effect.provideServiceEffect(load(campaign, path, options), RejectsFile, createRejectsFile(rejects)).pipe(
      Effect.scoped,
    )
  const rejectsFile = () => join(folder, `rejects-${files++}.csv`)

  test("contains the lines with their numbers and reasons, to be fixed and imported", function* () {
    const campaign = yield* draft()
    const rejects = rejectsFile()
    const clash = `${npi(9)},other@clinic.test`
    yield* load(campaign, csv(line(9)))
    const path = csv(line(1), `"${line(2)}`, line(3), `${line(4)},x`, clash, line(6))
    expect(yield* loadWith(campaign, path, rejects, { skipBad: true })).toMatchObject({ imported: 3, badCount: 3 })
    expect(readFileSync(rejects, "utf8").split("\n")).toEqual([
      "line,reason,npi,email",
      `3,"the line has a quote that does not pair","${line(2)}`,
      `5,"the line has 3 fields and the header 2",${line(4)},x`,
      `6,"the campaign has this NPI with another e-mail address",${clash}`,
      "",
    ])
    expect(statSync(rejects).mode & 0o777).toBe(0o600)
    const fixed = readFileSync(rejects, "utf8")
      .replace(`"${line(2)}`, line(2))
      .replace(",x\n", "\n")
    const report = yield* load(campaign, file(fixed.replace(clash, line(5))), { ignoreColumns: true })
    expect(report).toMatchObject({ imported: 3, badCount: 0 })
  })

  test("has no live formulas", function* () {
    const campaign = yield* draft()
    const rejects = rejectsFile()
    const [formula, other] = ['=HYPERLINK(""http://a.test"";1)', "-1"]
    const lines = [`=1,"${formula}",${other}`, `${npi(1)},@x,"a,=b"`, `${npi(2)},+,y`]
    const path = file(["npi,email,note", ...lines, ""].join("\n"))
    yield* Effect.flip(loadWith(campaign, path, rejects, { ignoreColumns: true }))
    const [, ...written] = readFileSync(rejects, "utf8").trim().split("\n")
    expect(written.map((text) => text.replace(/^\d+,"(?:[^"]|"")*",/, ""))).toEqual([
      `'=1,"'${formula}",'${other}`,
      `${npi(1)},'@x,"a,=b"`,
      `${npi(2)},'+,y`,
    ])
    const again = yield* load(campaign, rejects, { ignoreColumns: true, fields: ["note"], skipBad: true, check: true })
    expect(again.first?.map(({ fields }) => fields)).toEqual([{ note: other }, { note: "a,=b" }, { note: "y" }])
  })

  test("contains all rejected lines, including unreported ones, and only exists if there are any", function* () {
    const campaign = yield* draft()
    const rejects = rejectsFile()
    const path = csv(line(1), ...Array.from({ length: 10_050 }, (_, i) => `${i},x`))
    const refused = yield* Effect.flip(loadWith(campaign, path, rejects))
    expect(refused).toMatchObject({ _tag: "BadLines", imported: 0, badCount: 10_050 })
    const written = readFileSync(rejects, "utf8").trim().split("\n")
    expect(written).toHaveLength(10_051)
    expect(written.at(-1)).toMatch(/^10052,"the NPI is not ten digits",10049,x$/)

    const none = rejectsFile()
    expect(yield* loadWith(campaign, csv(line(1)), none)).toMatchObject({ imported: 1 })
    const unusable = csv("1,2", "x".repeat(200_000))
    expect(yield* Effect.flip(loadWith(campaign, unusable, none))).toMatchObject({ _tag: "UnusableFile" })
    expect(existsSync(none)).toBe(false)
  })

  it.each([
    ["it already exists and isn't overwritten", () => file("mine")],
    ["it already exists and isn't overwritten", () => folder],
    ["its folder does not exist", () => join(folder, "none", "rejects.csv")],
  ])("isn't written if %s", async (reason, path) => {
    const refused = await run(Effect.flip(Effect.scoped(createRejectsFile(path()))))
    expect(refused).toMatchObject({ _tag: "UnusableFile", reason })
  })
})

describe("the record of an import", () => {
  const rejectsOf = (id: ImportId) => ImportLog.use((log) => log.find(id))

  test("contains the operator, the time, the number of lines by outcome, and the reasons of rejected lines", function* () {
    const campaign = yield* draft()
    yield* load(campaign, csv(line(1), line(1), "12,x@clinic.test", line(2)), { skipBad: true })
    yield* load(campaign, csv(line(1), line(3), `${npi(2)},other@clinic.test`), { skipBad: true })
    const ended = { operator: "Dana", endedAt: expect.any(String), status: "finished", fault: null }
    const imports = yield* recorded(campaign)
    expect(imports).toMatchObject([
      { ...ended, lines: 3, imported: 1, alreadyThere: 1, repeated: 0, rejected: 1 },
      { ...ended, lines: 4, imported: 2, alreadyThere: 0, repeated: 1, rejected: 1 },
    ])
    expect((yield* rejectsOf(imports[0]!.id)).rejects).toEqual([
      { line: 4, reason: "the campaign has this NPI with another e-mail address" },
    ])
  })

  test("contains the reason of a failed import, without personal data or file names", function* () {
    const campaign = yield* draft()
    yield* loadFailing(campaign, csv(line(1), "12,x@clinic.test"))
    yield* loadFailing(campaign, csv(...lines(0, 150), "x".repeat(200_000)), { skipBad: true })
    yield* loadFailing(campaign, join(folder, "none.csv"))
    const imports = yield* recorded(campaign)
    expect(imports).toMatchObject([
      { status: "failed", fault: "A file cannot be used: line 152 is longer than 64 KiB.", lines: null, imported: 0 },
      { status: "failed", fault: expect.stringMatching(/^1 bad line; nothing was imported/), lines: 2, rejected: 1 },
    ])
    expect(JSON.stringify(imports)).not.toContain("@")
  })

  test("is marked as interrupted after minutes without activity", function* () {
    const campaign = yield* draft()
    yield* load(campaign, csv(line(1)))
    for (const [silence, status] of [
      ["1 second", "running"],
      ["10 minutes", "interrupted"],
    ]) {
      yield* sql`
        update imports set ended_at = null, active_at = clock_timestamp() - ${silence!}::interval where campaign_id = ${campaign}`
      expect(yield* recorded(campaign)).toMatchObject([{ status, imported: 1 }])
    }
  })

  test("is kept for the newest imports of a campaign, with the first rejected lines of each", function* () {
    const { campaign, organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`
      insert into imports (organization_id, campaign_id, operator, ended_at)
      select ${organization.id}, ${campaign.id}, 'earlier ' || i, clock_timestamp()
      from generate_series(1, ${MAX_KEPT.imports + 5}) i`
    yield* load(campaign.id, csv(...Array.from({ length: MAX_KEPT.rejects + 5 }, () => "1,2")), { skipBad: true })
    const all = yield* recorded(campaign.id)
    expect(all).toHaveLength(MAX_KEPT.imports)
    expect(all[0]).toMatchObject({ rejected: MAX_KEPT.rejects + 5 })
    expect((yield* rejectsOf(all[0]!.id)).rejects).toHaveLength(MAX_KEPT.rejects)
  })
})
