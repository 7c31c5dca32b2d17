import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { person, seedPerson } from "@outreach/testing/seedPerson"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runFailing, runJson, meanwhile } = commandLine()

const folder = temporaryFolder("ops-clinicians", afterAll)

const of = (verb: string, organization: string, ...flags: ReadonlyArray<string>) => [
  ...["clinicians", verb, "--organization", organization, "--npi", person.npi],
  ...flags,
]

it("clinicians erase counts on a dry run, prints the certificate after a confirmation, and the same one when it is repeated", async () => {
  const { organization, program } = await meanwhile(seedPerson())
  const planned = await runJson(...of("erase", organization.id, "--dry-run"))
  expect(planned.action).toMatch(/ Data: Recipients: 1, .*Published events: 3, /)
  const { outcome, ...certificate } = await runJson(...of("erase", organization.id, "--yes"))
  expect(outcome).toBe("erased")
  expect(certificate).toMatchObject({ organization_id: organization.id, finished_at: expect.any(String) })
  expect(certificate.hashes).toContain(certificate.subject)
  const counts: ReadonlyArray<number> = Object.values(certificate.counts)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(planned.count)
  expect((await runJson(...of("erase", organization.id, "--dry-run"))).action).toContain("Erased before: ")
  const repeated = { outcome: "repeated", ...certificate }
  expect(await runJson(...of("erase", organization.id, "--yes"))).toEqual(repeated)
  const { data } = await runJson("audit", "list", "--object", certificate.erasure_id)
  expect(data).toEqual([expect.objectContaining({ id: certificate.commands[0], erasure_id: certificate.erasure_id })])
  const shown = await run(["erasures", "show", certificate.erasure_id])
  expect(shown.stdout).toMatch(new RegExp(`erased by +${certificate.operator}\n`))
  expect(shown.stdout).toMatch(/\nRecipients +1 +identifying data removed\n/)
  expect(shown.stdout).toContain("backups and WAL archives")
  for (const personal of [person.npi, person.email]) expect(shown.stdout).not.toContain(personal)
  // Later clinicians are compared with the keyed hashes of this organization.
  const add = ["suppressions", "create", "--program", program.id, "--npi", person.npi]
  const lift = ["suppressions", "remove", ...add.slice(2), "--reason", "asked again"]
  expect(await runJson(...lift)).toMatchObject({ removed: 0, is_erased: true })
  const found = await run(["recipients", "find", "--npi", person.npi])
  expect(found.stdout).toContain(`The clinician was erased and stays suppressed in ${organization.id}.`)
  const withoutKey = await run(add, { SECRETS_KEY: "" })
  expect(withoutKey).toMatchObject({ code: 1, stderr: expect.stringMatching(/SECRETS_KEY/) })
})

describe("clinicians export", () => {
  it("prints one JSON value, and a note if no data is stored", async () => {
    const { organization } = await meanwhile(seedCampaign({ recipients: 1 }))
    const { code, stdout, stderr } = await run(of("export", organization.id))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({ organization_id: organization.id, recipients: [person] })
    const { organization: other } = await meanwhile(seedCampaign({ recipients: 0 }))
    const none = await run(of("export", other.id))
    expect(none).toMatchObject({ code: 0, stderr: "Nothing is held on the clinician.\n" })
    expect(JSON.parse(none.stdout)).toMatchObject({ recipients: [], events: [] })
  })

  it("writes a new file that only its owner can read, without the key of secrets, and never overwrites one", async () => {
    const { organization } = await meanwhile(seedCampaign({ recipients: 2 }))
    const path = join(folder, "person.json")
    const args = of("export", organization.id, "--out", path)
    const { code, stdout } = await run([...args, "--output", "json"], { SECRETS_KEY: "" })
    expect({ code, summary: JSON.parse(stdout) }).toEqual({
      code: 0,
      summary: { organization_id: organization.id, file: path, rows: 2 },
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const written = readFileSync(path, "utf8")
    expect(JSON.parse(written)).toMatchObject({ recipients: [person], events: [] })
    expect(await runFailing(...args)).toMatchObject({ code: "unusable_file" })
    expect(readFileSync(path, "utf8")).toBe(written)
    const nobody = join(folder, "nobody.json")
    const unknown = of("export", `org_${"0".repeat(32)}`, "--out", nobody)
    expect(await runFailing(...unknown)).toMatchObject({ code: "organization_not_found" })
    expect(existsSync(nobody)).toBe(false)
  })
})
