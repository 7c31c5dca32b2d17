import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-suppressions-"))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (...lines: ReadonlyArray<string>): string => {
  const path = join(folder, "clinicians.csv")
  writeFileSync(path, lines.join("\n"))
  return path
}

const seed = async () => {
  const { program, campaign } = await meanwhile(seedCampaign({ recipients: 3 }))
  return { program: program.id, campaign: campaign.id }
}
const entries = async (program: string) =>
  (await runJson("suppressions", "list", "--program", program)).data.map(
    ({ kind, value, reason }: Record<string, string>) => [kind, value, reason],
  )

describe("ops suppressions", () => {
  it("adds a clinician once, withdraws the recipients who wait, and lists them", async () => {
    const { program } = await seed()
    const add = ["suppressions", "add", "--program", program, "--npi", npi(0), "--email", "Clinician1@CLINIC.test"]
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
    await runJson("suppressions", "add", "--program", program, "--email", "late@clinic.test")
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
    await runJson("suppressions", "add", "--program", program, "--email", "no@clinic.test")
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
    expect(await runJson("suppressions", "add", ...clinician)).toEqual({
      organization_id: organization,
      added: 1,
      withdrawn: 0,
    })
    await runJson("suppressions", "add", "--program", program, "--email", "all@clinic.test")
    expect(await entries(program)).toHaveLength(2)
    expect(await runJson("suppressions", "remove", ...clinician, "--yes")).toMatchObject({ removed: 1 })
    expect(await entries(program)).toHaveLength(1)
    for (const scope of [[], [...clinician.slice(0, 2), "--program", program]]) {
      const add = ["suppressions", "add", ...scope, "--email", "all@clinic.test"]
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
    await runJson("suppressions", "add", "--program", program, "--email", "late@clinic.test")
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
    const refused = await runFailing("suppressions", "add", "--program", program, ...flags)
    expect(refused.message).toMatch(message)
  })

  it("says that there is no such program", async () => {
    const none = `pgm_${"0".repeat(32)}`
    expect(await runFailing("suppressions", "list", "--program", none)).toMatchObject({ code: "program_not_found" })
  })
})
