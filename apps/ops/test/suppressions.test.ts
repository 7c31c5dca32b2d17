import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

const folder = temporaryFolder("ops-suppressions", afterAll)
let files = 0
const file = (...lines: ReadonlyArray<string>): string => {
  const path = join(folder, `${files++}.csv`)
  writeFileSync(path, lines.join("\n"))
  return path
}

const seed = async () => {
  const { organization, program, campaign } = await meanwhile(seedCampaign({ recipients: 3 }))
  return { organization: organization.id, program: program.id, campaign: campaign.id }
}
const list = async (...flags: ReadonlyArray<string>) =>
  (await runJson("suppressions", "list", ...flags)).data
    .map(({ kind, value, reason }: Record<string, string>) => [kind, value, reason])
    .toSorted()

/** Suppresses clinicians for each reason, in a program and in all of its organization. */
const suppressAll = Effect.fnUntraced(function* (programId: ProgramId, organizationId: OrganizationId) {
  const clinician = (name: string) => [{ npi: null, email: EmailAddress.make(`${name}@clinic.test`) }]
  const account = [{ npi: npi(1), email: EmailAddress.make("account@clinic.test") }]
  yield* suppressClinicians({ programId }, account, "account_created")
  yield* suppressClinicians({ organizationId }, clinician("gone"), "bounced")
  yield* suppressClinicians({ organizationId }, clinician("spam"), "complained")
  yield* suppressClinicians({ programId }, clinician("left"), "unsubscribed")
})

it.each([
  [" ", /for the audit log/],
  ["late@clinic.test asked", /without an e-mail address/],
  [`told by ${npi(0)}`, /without an e-mail address/],
])("suppressions aren't removed for the reason %j", async (reason, message) => {
  const { program } = await seed()
  const remove = ["suppressions", "remove", "--program", program, "--email", "late@clinic.test", "--reason", reason]
  expect((await runFailing(...remove)).message).toMatch(message)
})

describe("suppressions import", () => {
  it("suppresses the clinicians of a file of NPIs, of addresses or of both, once", async () => {
    const { program } = await seed()
    const load = (path: string) => runJson("suppressions", "import", "--program", program, path)
    expect(await load(file("npi", npi(0), npi(8)))).toMatchObject({ lines: 2, added: 2, withdrawn: 1 })
    expect(await load(file("email", "clinician1@clinic.test"))).toMatchObject({ added: 1, withdrawn: 1 })
    const both = file("email,npi", `,${npi(2)}`, `b@clinic.test,${npi(9)}`)
    expect(await load(both)).toMatchObject({ lines: 2, added: 3, withdrawn: 1 })
    expect(await load(both)).toMatchObject({ lines: 2, added: 0, withdrawn: 0 })
  })

  it.each<[string, ReadonlyArray<string>, object]>([
    [
      "bad lines",
      ["npi,email", `${npi(0)},`, ",", "1234567890,", ",no-address"],
      {
        bad_lines: [
          { line: 4, reason: "the NPI's check digit is wrong" },
          { line: 5, reason: "the e-mail address is not valid" },
        ],
      },
    ],
    [
      "a reason that binds the whole organization",
      ["email,reason", "a@clinic.test,bounced"],
      { bad_lines: [{ line: 2, reason: expect.stringContaining("--organization") }] },
    ],
    [
      "an unknown reason",
      ["email,reason", "b@clinic.test,snoozed"],
      { bad_lines: [{ line: 2, reason: expect.stringContaining("--reason") }] },
    ],
  ])("suppresses nobody if the file has %s", async (_, lines, failure) => {
    const { program } = await seed()
    expect(await runFailing("suppressions", "import", "--program", program, file(...lines))).toMatchObject(failure)
    expect(await list("--program", program)).toEqual([])
  })

  it("requires a program for the account of a clinician", async () => {
    const { organization } = await seed()
    const load = ["suppressions", "import", "--organization", organization]
    expect(await runFailing(...load, file("npi,reason", `${npi(1)},account_created`))).toMatchObject({
      bad_lines: [{ line: 2, reason: expect.stringContaining("--program") }],
    })
  })

  it("gives all lines the reason of --reason", async () => {
    const { program } = await seed()
    const path = file("email,reason", "one@clinic.test,complained", "two@clinic.test,")
    await runJson("suppressions", "import", "--program", program, path, "--reason", "unsubscribed")
    expect(await list("--program", program)).toEqual([
      ["email", "one@clinic.test", "unsubscribed"],
      ["email", "two@clinic.test", "unsubscribed"],
    ])
  })
})

describe("suppressions export", () => {
  it("requires a scope", async () => {
    const nowhere = ["suppressions", "export", "--out", join(folder, "x")]
    expect(await runFailing(...nowhere)).toMatchObject({ code: "unclear_scope" })
  })

  it("writes a file that can be imported again: entries with reasons, for one program or all", async () => {
    const { organization, program } = await seed()
    await meanwhile(suppressAll(program, organization))
    const out = join(folder, "ours.csv")
    const of = ["--organization", organization]
    const report = { out, entries: 5 }
    expect(await runJson("suppressions", "export", ...of, "--out", out)).toEqual(report)
    const text = readFileSync(out, "utf8")
    expect(text).toMatch(/^npi,email,reason,program,since\r\n/)
    expect(text).toContain(`${npi(1)},,account_created,${program},2`)
    const before = await list(...of)
    for (const name of ["gone", "spam", "left"]) {
      const lift = ["suppressions", "remove", "--program", program, "--email", `${name}@clinic.test`]
      await runJson(...lift, "--reason", "to be imported again", "--yes")
    }
    expect(await list(...of)).toHaveLength(2)
    expect(await runJson("suppressions", "import", ...of, out)).toMatchObject({ added: 3 })
    expect(await list(...of)).toEqual(before)
    const other = ["--organization", (await seed()).organization]
    expect(await runFailing("suppressions", "import", ...other, out)).toMatchObject({ code: "bad_lines" })
  })
})
