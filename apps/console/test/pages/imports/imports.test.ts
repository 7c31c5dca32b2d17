import { existsSync, readdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { type Answer, startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

const csv = (...lines: ReadonlyArray<string>): File => new File([lines.join("\n")], "spring.csv", { type: "text/csv" })

const draft = async () => (await test().run(seedCampaign({ recipients: 0 }))).campaign
const recipientsOf = (campaign: { readonly id: string }) =>
  test().run(
    SqlClient.SqlClient.use(
      (sql) =>
        sql<{
          npi: string
          email: string
        }>`select npi, email from recipients where campaign_id = ${campaign.id} order by npi`,
    ),
  )

const pathOf = ({ id }: { readonly id: string }) => `/campaigns/${id}/imports`
const send = (operator: Visitor, campaign: { readonly id: string }, file: File) =>
  operator.post(`${pathOf(campaign)}/upload`, { check: "yes", page: `${pathOf(campaign)}/new` }, file)

/** Sends a form of a page as a browser does, with other values in place of some. */
const submit = (
  operator: Visitor,
  { document }: Answer,
  action: string,
  changes: Readonly<Record<string, string | ReadonlyArray<string>>> = {},
) => {
  const form = document.querySelector(`form[action="${action}"]`)!
  const fields: Record<string, Array<string>> = {}
  for (const input of form.querySelectorAll("input, select")) {
    const value = input.tagName === "SELECT" ? input.querySelector("option[selected]")! : input
    const name = input.getAttribute("name")!
    fields[name] = [...(fields[name] ?? []), value.getAttribute("value")!]
  }
  return operator.post(action, { ...fields, ...changes })
}

const heldFiles = () => readdirSync(tmpdir()).filter((name) => name.startsWith("outreach-console-list-"))

describe("a list that is imported in the console", () => {
  it("is shown as it is understood, with likely columns, counts and rejects, and imported as it was shown", async () => {
    const campaign = await draft()
    const operator = await test().as("operator")
    const list = csv(
      "Nr;NPI Number;Name;E-Mail",
      ...[1, 2, 3].map((i) => `${i};${npi(i)};Dr. ${i};Clinician${i}@clinic.test`),
      `4;${npi(1)};Dr. 1;clinician1@clinic.test`,
      "5;12345;Dr. 5;clinician5@clinic.test",
      `6;${npi(2)};Dr. 6;other@clinic.test`,
    )
    const before = heldFiles()
    const checked = await send(operator, campaign, list)
    expect(checked.words).toContain("Received. Nothing is imported yet")
    expect(checked.words).toContain("spring.csv")
    expect(checked.words).toContain("UTF-8, semicolon-separated, with the header Nr, NPI Number, Name, E-Mail")
    const chosen = [...checked.document.querySelectorAll("select[name=columns] option[selected]")]
    expect(chosen.map((option) => option.getAttribute("value"))).toEqual(["-", "npi", "-", "email"])
    expect(checked.words).toContain("New recipients3")
    expect(checked.words).toContain("Repeated, so left out1")
    expect(checked.words).toContain("Rejected, so left out2")
    expect(checked.words).toMatch(/the NPI has too few digits.*?16/)
    expect(checked.words).toMatch(/line … has this NPI with another e-mail address.*?17/)
    expect(checked.words).toContain(`••••••${npi(1).slice(-4)}`)
    expect(checked.text).not.toMatch(/clinician\d@|\b\d{10}\b/i)
    expect(checked.words).toContain(`--map "NPI Number=npi,E-Mail=email"`)
    expect(await recipientsOf(campaign)).toEqual([])
    const held = heldFiles().filter((name) => !before.includes(name))
    expect(held.map((name) => statSync(join(tmpdir(), name)).mode & 0o777)).toEqual([0o600, 0o600])

    const rejects = await submit(operator, checked, `${pathOf(campaign)}/rejects`)
    expect(rejects.headers.get("content-disposition")).toBe('attachment; filename="rejects.csv"')
    expect(rejects.text.split("\n")).toEqual([
      "line;reason;Nr;NPI Number;Name;E-Mail",
      expect.stringMatching(/^6;"the NPI has too few digits.*;5;12345;Dr\. 5;clinician5@clinic\.test$/),
      `7;"line 3 has this NPI with another e-mail address: keep the line that is right";6;${npi(2)};Dr. 6;other@clinic.test`,
      "",
    ])

    const done = await submit(operator, checked, `${pathOf(campaign)}/import`)
    expect(done.words).toContain("finished")
    expect(done.words).toContain("Imported3")
    expect(done.words).toContain("Rejected2")
    expect(await recipientsOf(campaign)).toEqual(
      [1, 2, 3]
        .map((i) => ({ npi: npi(i), email: `Clinician${i}@clinic.test` }))
        .sort((a, b) => (a.npi < b.npi ? -1 : 1)),
    )
    expect(held.filter((name) => existsSync(join(tmpdir(), name)))).toEqual([])

    const { words, document } = await operator.get(pathOf(campaign))
    expect(words).toMatch(/operator \d+finished630012/)
    const importId = document.querySelector('a[href^="/imports/imp_"]')!.getAttribute("href")!
    const kept = await operator.get(`${importId}/rejects`)
    expect(kept.text.split("\r\n")).toEqual([
      "line,reason",
      expect.stringMatching(/^6,"?the NPI has too few/),
      "7,line 3 has this NPI with another e-mail address: keep the line that is right",
      "",
    ])
    expect(await audited()).toEqual([
      { command: "recipients rejects", arguments: { import: importId.slice("/imports/".length) }, result: "succeeded" },
      {
        command: "recipients import",
        arguments: expect.objectContaining({ campaign: campaign.id, "skip-bad": "yes" }),
        result: "succeeded",
      },
      {
        command: "recipients import",
        arguments: expect.objectContaining({ rejects: null, check: "yes" }),
        result: "succeeded",
      },
      {
        command: "recipients import",
        arguments: { campaign: campaign.id, check: "yes", file: null },
        result: "succeeded",
      },
    ])
  })
})

const audited = () =>
  test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`
        select command, arguments, result from audit_log join audit_results on command_id = id
        where starts_with(command, 'recipients ') order by id desc`,
    ),
  )
