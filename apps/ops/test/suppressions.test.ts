import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-suppressions-"))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const file = (...lines: ReadonlyArray<string>): string => {
  const path = join(folder, `${files++}.csv`)
  writeFileSync(path, lines.join("\n"))
  return path
}

const seed = async () => {
  const { program, campaign } = await meanwhile(seedCampaign({ recipients: 3 }))
  return { program: program.id, campaign: campaign.id }
}
const entries = async (program: string) => list("--program", program)
const list = async (...flags: ReadonlyArray<string>) =>
  (await runJson("suppressions", "list", ...flags)).data
    .map(({ kind, value, reason }: Record<string, string>) => [kind, value, reason])
    .toSorted()
const organizationOf = async (campaign: string): Promise<string> =>
  (await runJson("campaigns", "show", campaign)).organization_id

const sample = (name: string): string => join(import.meta.dirname, "data/suppressions", name)

const suppressAll = Effect.fnUntraced(function* (programId: ProgramId, organizationId: OrganizationId) {
  const clinician = (name: string) => [{ npi: null, email: EmailAddress.make(`${name}@clinic.test`) }]
  yield* suppressClinicians(
    { programId },
    [{ npi: npi(1), email: EmailAddress.make("account@clinic.test") }],
    "account_created",
  )
  yield* suppressClinicians({ organizationId }, clinician("gone"), "bounced")
  yield* suppressClinicians({ organizationId }, clinician("spam"), "complained")
  yield* suppressClinicians({ programId }, clinician("left"), "unsubscribed")
})

describe("ops suppressions", () => {
  it("adds a clinician once, withdraws the recipients who wait, and lists them", async () => {
    const { program } = await seed()
    const add = ["suppressions", "create", "--program", program, "--npi", npi(0), "--email", "Clinician1@CLINIC.test"]
    expect(await runJson(...add)).toEqual({ program_id: program, added: 2, withdrawn: 2 })
    expect(await runJson(...add)).toEqual({ program_id: program, added: 0, withdrawn: 0 })
    expect(await entries(program)).toEqual([
      ["email", "clinician1@clinic.test", "operator"],
      ["npi", npi(0), "operator"],
    ])
    expect(await entries((await seed()).program)).toEqual([])
  })

  it("removes an entry, so that a later import may name the clinician", async () => {
    const { program, campaign } = await seed()
    await runJson("suppressions", "create", "--program", program, "--email", "late@clinic.test")
    const load = ["recipients", "import", "--campaign", campaign, file("npi,email", `${npi(7)},Late@clinic.test`)]
    expect(await runJson(...load)).toMatchObject({ imported: 0, suppressed: 1 })
    const email = ["--email", "LATE@clinic.test"]
    const remove = ["suppressions", "remove", "--program", program, ...email, "--reason", "asked by phone", "--yes"]
    expect(await runJson(...remove)).toEqual({ program_id: program, removed: 1 })
    expect(await runJson(...remove)).toEqual({ program_id: program, removed: 0 })
    expect(await runJson(...load)).toMatchObject({ imported: 1, suppressed: 0 })
  })

  it("lists those of the whole organization, too, by reason, and lifts them from each of its programs", async () => {
    const { program, organizationId } = await meanwhile(
      Effect.gen(function* () {
        const { program, organization } = yield* seedCampaign({ recipients: 0 })
        const clinician = { npi: null, email: EmailAddress.make("Gone@clinic.test") }
        yield* suppressClinicians({ organizationId: organization.id }, [clinician], "bounced")
        return { program: program.id, organizationId: organization.id }
      }),
    )
    const other = await runJson("programs", "create", "--organization", organizationId, "--slug", "x", "--name", "X")
    await runJson("suppressions", "create", "--program", program, "--email", "no@clinic.test")
    const bounced = {
      kind: "email",
      value: "gone@clinic.test",
      reason: "bounced",
      scope: "organization",
      program_id: null,
    }
    for (const each of [program, other.id]) {
      const { data } = await runJson("suppressions", "list", "--program", each, "--reason", "bounced")
      expect(data).toEqual([expect.objectContaining({ ...bounced, created_at: expect.any(String) })])
    }
    expect(await entries(other.id)).toHaveLength(1)
    expect(await entries(program)).toHaveLength(2)
    const remove = ["suppressions", "remove", "--program", other.id, "--email", "gone@clinic.test", "--yes"]
    expect(await runJson(...remove, "--reason", "the mailbox is back")).toMatchObject({ removed: 1 })
    expect(await entries(program)).toEqual([["email", "no@clinic.test", "operator"]])
  })

  it("suppresses and lifts for all of an organization, and leaves what one program alone has", async () => {
    const { program, campaign } = await seed()
    const { organization_id: organization } = await runJson("campaigns", "show", campaign)
    const clinician = ["--organization", organization, "--email", "all@clinic.test", "--reason", "asked by letter"]
    expect(await runJson("suppressions", "create", ...clinician)).toEqual({
      organization_id: organization,
      added: 1,
      withdrawn: 0,
    })
    await runJson("suppressions", "create", "--program", program, "--email", "all@clinic.test")
    expect(await entries(program)).toHaveLength(2)
    expect(await runJson("suppressions", "remove", ...clinician, "--yes")).toMatchObject({ removed: 1 })
    expect(await entries(program)).toHaveLength(1)
    for (const scope of [[], [...clinician.slice(0, 2), "--program", program]]) {
      const add = ["suppressions", "create", ...scope, "--email", "all@clinic.test"]
      expect(await runFailing(...add)).toMatchObject({ code: "unclear_scope" })
    }
  })

  it.each([
    [[], /--reason/],
    [["--reason", " "], /for the audit log/],
    [["--reason", "late@clinic.test asked"], /without an e-mail address or an NPI/],
    [["--reason", `told by ${npi(0)}`], /without an e-mail address or an NPI/],
  ])("lifts none with %j for a reason, and says what is missing", async (reason, message) => {
    const { program } = await seed()
    await runJson("suppressions", "create", "--program", program, "--email", "late@clinic.test")
    const remove = ["suppressions", "remove", "--program", program, "--email", "late@clinic.test", "--yes"]
    expect((await runFailing(...remove, ...reason)).message).toMatch(message)
    expect(await entries(program)).toHaveLength(1)
  })

  it("keeps the reason of a lifted suppression in the audit log, and not the address", async () => {
    const { program } = await seed()
    const lift = ["--email", "late@clinic.test", "--reason", "asked by phone", "--yes"]
    await runJson("suppressions", "remove", "--program", program, ...lift)
    const { data } = await runJson("audit", "list", "--limit", "1")
    expect(data[0]).toMatchObject({
      command: "suppressions remove",
      arguments: { program, email: null, reason: "asked by phone", yes: true },
    })
  })

  it("imports a file of NPIs, of addresses or of both, and a re-run adds nothing", async () => {
    const { program } = await seed()
    const load = (path: string) => runJson("suppressions", "import", "--program", program, path)
    expect(await load(file("npi", npi(0), npi(8)))).toMatchObject({ lines: 2, added: 2, withdrawn: 1 })
    expect(await load(file("email", "clinician1@clinic.test"))).toMatchObject({ added: 1, withdrawn: 1 })
    const both = file("email,npi", `,${npi(2)}`, `b@clinic.test,${npi(9)}`)
    expect(await load(both)).toMatchObject({ lines: 2, added: 3, withdrawn: 1 })
    expect(await load(both)).toMatchObject({ lines: 2, added: 0, withdrawn: 0 })
  })

  it("reads a list as people have it, with --map, and offers the likely mapping", async () => {
    const { program } = await seed()
    const path = file("Kontakt;Provider", `"mailto:clinician1@clinic.test";'${npi(2)}`, `gone@clinic.test;`)
    const load = ["suppressions", "import", "--program", program, path]
    const { reason } = await runFailing(...load)
    expect(reason).toMatch(/; if they are meant so, add --map "Provider=npi,Kontakt=email"$/)
    const flags = ["--map", "Provider=npi,Kontakt=email"]
    expect(await runJson(...load, ...flags)).toMatchObject({ lines: 2, added: 3, withdrawn: 2 })
    const { stderr } = await run([...load, ...flags])
    expect(stderr).toBe(
      [
        "Read as UTF-8, semicolon-separated, with the header Kontakt, Provider.",
        "1 line: an apostrophe before the NPI was taken off.",
        "1 line: mailto: before the e-mail address was taken off.\n",
      ].join("\n"),
    )
  })

  it("suppresses nobody when a line is bad, and says which and why", async () => {
    const { program } = await seed()
    const path = file("npi,email", `${npi(0)},`, ",", "1234567890,", ",no-address")
    expect(await runFailing("suppressions", "import", "--program", program, path)).toMatchObject({
      code: "bad_lines",
      bad_lines: [
        { line: 3, reason: "neither an NPI nor an e-mail address is given" },
        { line: 4, reason: "the NPI's check digit is wrong" },
        { line: 5, reason: "the e-mail address is not valid" },
      ],
    })
    expect(await entries(program)).toEqual([])
  })

  it.each([
    ["ses.json", { bounced: "bounced", complained: "complained" }, {}],
    ["ses.csv", { bounced: "bounced", complained: "complained" }, {}],
    ["postmark.json", { unsubscribed: "unsubscribed", bounced: "bounced", complained: "complained" }, {}],
    [
      "postmark.csv",
      { unsubscribed: "unsubscribed", operator: "operator", bounced: "bounced", complained: "complained" },
      { harmless: 1 },
    ],
    ["sendgrid-bounces.csv", { bounced: "bounced", disabled: "bounced" }, { harmless: 1 }],
    ["sendgrid-bounces.json", { bounced: "bounced" }, { harmless: 1 }],
    ["sendgrid-blocks.csv", {}, { harmless: 2 }],
    ["sendgrid-spam-reports.csv", { complained: "complained" }, {}],
    ["sendgrid-invalid.csv", { bounced: "bounced" }, { invalid: 1 }],
    ["sendgrid-unsubscribes.csv", { unsubscribed: "unsubscribed" }, {}],
    ["listmonk-subscribers.csv", { operator: "operator" }, { harmless: 1 }],
    ["listmonk-bounces.json", { bounced: "bounced", complained: "complained" }, { harmless: 1 }],
  ])(
    "takes the addresses of %s with their reasons, and counts what says nothing against one",
    async (name, reasons, left) => {
      const organization = await organizationOf((await seed()).campaign)
      const load = ["suppressions", "import", "--organization", organization, sample(name)]
      const added = Object.keys(reasons).length
      expect(await runJson(...load)).toMatchObject({
        organization_id: organization,
        added,
        harmless: 0,
        invalid: 0,
        ...left,
      })
      expect(await list("--organization", organization)).toEqual(
        Object.entries(reasons)
          .map(([name, reason]) => ["email", `${name}@clinic.test`, reason])
          .toSorted(),
      )
      expect(await runJson(...load)).toMatchObject({ added: 0, withdrawn: 0 })
    },
  )

  it("suppresses whatever the lines say for the reason that is given", async () => {
    const organization = await organizationOf((await seed()).campaign)
    const load = ["suppressions", "import", "--organization", organization, sample("sendgrid-blocks.csv")]
    expect(await runJson(...load, "--reason", "bounced")).toMatchObject({ added: 2, harmless: 0 })
    expect(await list("--organization", organization)).toEqual([
      ["email", "policy@clinic.test", "bounced"],
      ["email", "unreachable@clinic.test", "bounced"],
    ])
  })

  it("suppresses nobody for a reason that the service is not known to give, or that binds elsewhere", async () => {
    const { program, campaign } = await seed()
    const organization = await organizationOf(campaign)
    const unknown = file("EmailAddress,Reason", "a@clinic.test,BOUNCE", "b@clinic.test,SNOOZED")
    const load = ["suppressions", "import", "--organization", organization]
    expect(await runFailing(...load, unknown)).toMatchObject({
      code: "bad_lines",
      bad_lines: [{ line: 3, reason: expect.stringContaining("--reason") }],
    })
    const program_ = ["suppressions", "import", "--program", program]
    expect(await runFailing(...program_, sample("ses.csv"))).toMatchObject({
      bad_lines: [2, 3].map((line) => ({ line, reason: expect.stringContaining("--organization") })),
    })
    expect(await runFailing(...load, file("npi,reason", `${npi(1)},account_created`))).toMatchObject({
      bad_lines: [{ line: 2, reason: expect.stringContaining("--program") }],
    })
    expect(await list("--organization", organization)).toEqual([])
  })

  it.each([
    ["[1, 2]", /without a list of objects/],
    ['{"a": ', /begins as JSON, and is none/],
  ])("refuses the JSON %j with what is wrong", async (text, message) => {
    const { program } = await seed()
    expect((await runFailing("suppressions", "import", "--program", program, file(text))).message).toMatch(message)
  })

  it("exports what it imports again: each entry with its reason, in its program or in all of them", async () => {
    const { program, campaign } = await seed()
    const organization = await organizationOf(campaign)
    await meanwhile(suppressAll(program as ProgramId, organization as OrganizationId))
    const out = join(folder, "ours.csv")
    const written = ["suppressions", "export", "--organization", organization, "--out"]
    expect(await runJson(...written, out)).toEqual({ format: "ours", out, entries: 5, left_out: 0 })
    const text = readFileSync(out, "utf8")
    expect(text).toMatch(/^npi,email,reason,program,since\r\n/)
    expect(text).toContain(`${npi(1)},,account_created,${program},2`)
    const before = await runJson("suppressions", "list", "--organization", organization)
    const clinicians = ["gone", "spam", "left"].map((name) => `${name}@clinic.test`)
    for (const email of clinicians) {
      const lift = ["suppressions", "remove", "--program", program, "--email", email]
      await runJson(...lift, "--reason", "to be imported again", "--yes")
    }
    expect(await list("--organization", organization)).toHaveLength(2)
    expect(await runJson("suppressions", "import", "--organization", organization, out)).toMatchObject({ added: 3 })
    const places = ({ data }: { readonly data: ReadonlyArray<Record<string, string>> }) =>
      data.map(({ kind, value, reason, program_id }) => [kind, value, reason, program_id].join(" ")).toSorted()
    expect(places(await runJson("suppressions", "list", "--organization", organization))).toEqual(places(before))
    const other = await organizationOf((await seed()).campaign)
    expect(await runFailing("suppressions", "import", "--organization", other, out)).toMatchObject({
      code: "bad_lines",
    })
  })

  it.each([
    ["ses", "left@clinic.test,COMPLAINT\r\nspam@clinic.test,COMPLAINT\r\ngone@clinic.test,BOUNCE\r\n"],
    [
      "postmark",
      `{"Suppressions":[{"EmailAddress":"left@clinic.test"},{"EmailAddress":"spam@clinic.test"},{"EmailAddress":"gone@clinic.test"}]}\n`,
    ],
    ["sendgrid", `{"recipient_emails":["left@clinic.test","spam@clinic.test","gone@clinic.test"]}\n`],
    ["listmonk", "email\r\nleft@clinic.test\r\nspam@clinic.test\r\ngone@clinic.test\r\n"],
  ])("exports addresses as %s imports them, without NPIs and accounts", async (format, expected) => {
    const { program, campaign } = await seed()
    await meanwhile(suppressAll(program as ProgramId, (await organizationOf(campaign)) as OrganizationId))
    const out = join(folder, `${format}.txt`)
    const report = await runJson("suppressions", "export", "--program", program, "--format", format, "--out", out)
    expect(report).toMatchObject({ entries: 3, left_out: 2 })
    expect(readFileSync(out, "utf8")).toBe(expected)
    const { data } = await runJson("audit", "list", "--limit", "1")
    expect(data[0]).toMatchObject({ command: "suppressions export", arguments: { program, format, out: null } })
  })

  it("narrows a list to an organization, or to a program with what binds all of them", async () => {
    const { program, campaign } = await seed()
    const organization = await organizationOf(campaign)
    await meanwhile(suppressAll(program as ProgramId, organization as OrganizationId))
    const other = await runJson("programs", "create", "--organization", organization, "--slug", "x", "--name", "X")
    expect(await list("--organization", organization)).toHaveLength(5)
    expect(await list("--program", program)).toHaveLength(5)
    expect(await list("--program", other.id, "--organization", organization)).toEqual([
      ["email", "gone@clinic.test", "bounced"],
      ["email", "spam@clinic.test", "complained"],
    ])
    const foreign = await organizationOf((await seed()).campaign)
    expect(await list("--organization", foreign)).toEqual([])
    const both = ["suppressions", "list", "--program", program, "--organization", foreign]
    expect(await runFailing(...both)).toMatchObject({ code: "foreign_program" })
    expect(await runFailing("suppressions", "export", "--out", join(folder, "x"))).toMatchObject({
      code: "unclear_scope",
    })
  })

  it("names further columns of a file, and leaves them out when told to", async () => {
    const { program } = await seed()
    const load = ["suppressions", "import", "--program", program, file("email,Name", "someone@clinic.test,Someone")]
    expect(await runFailing(...load)).toMatchObject({
      code: "unusable_file",
      reason: 'it has columns beside npi and email ("Name"); --ignore-columns leaves them out',
    })
    expect(await runJson(...load, "--ignore-columns")).toMatchObject({ lines: 1, added: 1 })
  })

  it.each([
    [[], /neither an NPI nor an e-mail address/],
    [["--npi", "123"], /not ten digits/],
    [["--email", "nobody"], /e-mail address is not valid/],
  ])("refuses %j with what is wrong", async (flags, message) => {
    const { program } = await seed()
    const refused = await runFailing("suppressions", "create", "--program", program, ...flags)
    expect(refused.message).toMatch(message)
  })

  it("says that there is no such program", async () => {
    const none = `pgm_${"0".repeat(32)}`
    expect(await runFailing("suppressions", "list", "--program", none)).toMatchObject({ code: "program_not_found" })
  })
})
