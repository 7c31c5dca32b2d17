import { statSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { beforeAll, describe, expect, it } from "vitest"
import { formToken } from "../../../src/http/readForm.ts"
import { type Answer, startConsole, type Visitor } from "../../startConsole.ts"
import { temporaryFolder } from "../../temporaryFolder.ts"

const { folder, files: heldFiles } = temporaryFolder()
const test = startConsole()

const line = (i: number): string => `${npi(i)},clinician${i}@clinic.test`
const csv = (...lines: ReadonlyArray<string>): File => new File([lines.join("\n")], "spring.csv", { type: "text/csv" })

let operator: Visitor
beforeAll(async () => {
  operator = await test().as("operator")
})

const draft = async () => (await test().run(seedCampaign({ recipients: 0 }))).campaign
const recipientsOf = (campaign: { readonly id: string }) =>
  test().run(
    sql<{
      npi: string
      email: string
    }>`select npi, email from recipients where campaign_id = ${campaign.id} order by npi`,
  )

const pathOf = ({ id }: { readonly id: string }) => `/campaigns/${id}/imports`
const send = (operator: Visitor, campaign: { readonly id: string }, file: File) =>
  operator.post(`${pathOf(campaign)}/upload`, { check: "yes", page: `${pathOf(campaign)}/new` }, file)

type Changes = Readonly<Record<string, string | ReadonlyArray<string>>>

/** Sends the form with a button as a browser does, with other values in place of some. */
const submit = (operator: Visitor, { document }: Answer, label: string, changes: Changes = {}) => {
  const forms = [...document.querySelectorAll("main form")]
  const form = forms.find((each) => each.querySelector("button")!.textContent.startsWith(label))!
  const fields: Record<string, Array<string>> = {}
  for (const input of form.querySelectorAll("input, select")) {
    const value =
      input.tagName === "SELECT" ? (input.querySelector("option[selected]") ?? input.querySelector("option"))! : input
    const name = input.getAttribute("name")!
    fields[name] = [...(fields[name] ?? []), value.getAttribute("value")!]
  }
  const { token: _, ...values } = fields
  return operator.post(form.getAttribute("action")!, { ...values, ...changes })
}

it("a list that is imported in the console is shown with its columns, counts and rejects, and imported as shown", async () => {
  const campaign = await draft()
  const list = csv(
    "Nr;NPI;Name;Email",
    ...[1, 2, 3].map((i) => `${i};${npi(i)};Dr. ${i};Clinician${i}@clinic.test`),
    `4;${npi(1)};Dr. 1;clinician1@clinic.test`,
    "5;12345;Dr. 5;clinician5@clinic.test",
    `6;${npi(2)};Dr. 6;other@clinic.test`,
  )
  const before = heldFiles()
  const checked = await send(operator, campaign, list)
  expect(checked.words).toContain("Uploaded, not imported yet")
  expect(checked.words).toContain("spring.csv")
  expect(checked.words).toContain("UTF-8, semicolon-separated, with the header Nr, NPI, Name, Email")
  const chosen = [...checked.document.querySelectorAll("select[name=map] option[selected]")]
  expect(chosen.map((option) => option.getAttribute("value"))).toEqual(["column 2=npi", "column 4=email"])
  expect(checked.words).toContain("New recipients3")
  expect(checked.words).toContain("Duplicates, skipped1")
  expect(checked.words).toContain("Rejected, skipped2")
  expect(checked.words).toMatch(/the NPI is not ten digits.*?16/)
  expect(checked.words).toMatch(/line … has this NPI with another e-mail address.*?17/)
  expect(checked.words).toContain(`••••••${npi(1).slice(-4)}`)
  expect(checked.text).not.toMatch(/clinician\d@|\b\d{10}\b/i)
  expect(await recipientsOf(campaign)).toEqual([])
  const held = heldFiles().filter((name) => !before.includes(name))
  expect(held.map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600])

  const rejects = await submit(operator, checked, "Download")
  expect(rejects.headers.get("content-disposition")).toBe('attachment; filename="rejects.csv"')
  expect(rejects.text.split("\n")).toEqual([
    "line;reason;Nr;NPI;Name;Email",
    `6;"the NPI is not ten digits";5;12345;Dr. 5;clinician5@clinic.test`,
    `7;"line 3 has this NPI with another e-mail address: keep the line that is right";6;${npi(2)};Dr. 6;other@clinic.test`,
    "",
  ])

  const done = await submit(operator, checked, "Import")
  expect(done.words).toContain("The import was started.")
  expect(done.words).toContain("finished")
  expect(done.words).toContain("Imported3")
  expect(done.words).toContain("Rejected2")
  expect(await recipientsOf(campaign)).toEqual(
    [1, 2, 3]
      .map((i) => ({ npi: npi(i), email: `Clinician${i}@clinic.test` }))
      .sort((a, b) => (a.npi < b.npi ? -1 : 1)),
  )
  expect(heldFiles()).toEqual(before)

  const { words, document } = await operator.get(pathOf(campaign))
  expect(words).toMatch(/operator \d+finished6300012/)
  const importId = document.querySelector('a[href^="/imports/imp_"]')!.getAttribute("href")!
  const kept = await operator.get(`${importId}/rejects`)
  expect(kept.text.split("\r\n")).toEqual([
    "line,reason",
    "6,the NPI is not ten digits",
    "7,line 3 has this NPI with another e-mail address: keep the line that is right",
    "",
  ])
})

/** Starts to send a list without its end. */
const startUpload = (campaign: { readonly id: string }, content: Buffer) => {
  const upload = request(`${test().url}${pathOf(campaign)}/upload`, {
    method: "POST",
    headers: {
      ...{ cookie: operator.cookie, origin: test().url },
      ...{ "content-type": "multipart/form-data; boundary=x", "content-length": content.length + 10_000 },
    },
  })
  // A connection that the test or the server closes.
  upload.on("error", () => {})
  const part = (name: string, more = "") => `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`
  const token = formToken(operator.cookie.slice("session=".length))
  upload.write(`${part("token")}${token}\r\n${part("page")}${pathOf(campaign)}/new\r\n`)
  upload.write(part("file", '; filename="a.csv"\r\ncontent-type: text/csv'))
  upload.write(content)
  return upload
}

describe("a file that cannot be imported", () => {
  it.each<[string, string, File]>([
    ["it is empty", "it is empty", csv("")],
    [
      "it is a workbook",
      "it is a workbook, an archive or a PDF document",
      new File([Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0)], "a.xls"),
    ],
    ["none was chosen", "it is empty", new File([], "", { type: "application/octet-stream" })],
    ["it has too many columns", "has 61 columns, more than the maximum of 60", csv(`npi,email${",x".repeat(59)}`)],
    ["a line of it is too long", "line 2 is longer than 64 KiB", csv("npi,email", "x".repeat(70_000))],
  ])("is rejected at its field, and nothing of it is kept: %s", async (_, reason, file) => {
    const campaign = await draft()
    const before = heldFiles()
    const answer = await send(operator, campaign, file)
    expect([400, 409]).toContain(answer.status)
    const field = answer.document.querySelector('input[type="file"]')!
    const fault = answer.document.getElementById(field.getAttribute("aria-describedby")!)!
    expect(fault.textContent).toContain(reason)
    expect(fault.textContent).not.toContain(folder)
    expect(heldFiles()).toEqual(before)
  })

  it("is rejected with a page if it is larger than 50 MiB, on a connection that stays open", async () => {
    const before = heldFiles()
    const answer = await send(operator, await draft(), new File([Buffer.alloc(60 * 1024 * 1024, "x")], "a.csv"))
    // A closed connection with unread bytes is reset, and the browser shows no page.
    expect([answer.status, answer.headers.get("connection")]).toEqual([413, "keep-alive"])
    expect(answer.words).toContain("is larger than 50 MiB")
    expect(answer.document.querySelector('input[type="file"]')).not.toBeNull()
    expect(heldFiles()).toEqual(before)
  })

  it("is not read before the token: a form with the file first is rejected", async () => {
    const campaign = await draft()
    const { cookie } = operator
    const body = new FormData()
    body.append("file", csv("npi,email", `${npi(1)},a@clinic.test`))
    body.append("token", formToken(cookie.slice("session=".length)))
    const before = heldFiles()
    const answer = await fetch(`${test().url}${pathOf(campaign)}/upload`, {
      ...{ method: "POST", body, headers: { cookie, origin: test().url } },
    })
    expect([answer.status, heldFiles()]).toEqual([403, before])
  })

  it("is rejected if the other fields are too many or too long", async () => {
    const campaign = await draft()
    const file = csv("npi,email", line(1))
    const [long, many] = ["x".repeat(100_000), Array.from({ length: 50 }, () => "x")]
    for (const more of [long, many]) {
      expect((await operator.post(`${pathOf(campaign)}/upload`, { more }, file)).status).toBe(413)
    }
  })

  it("leaves no file if the connection breaks during the upload", async () => {
    const before = heldFiles()
    const upload = startUpload(await draft(), Buffer.from("npi,email\n"))
    await eventually(heldFiles, ({ length }) => length > before.length)
    upload.destroy()
    await eventually(heldFiles, ({ length }) => length === before.length)
  })
})

describe("the columns of a list", () => {
  it("are chosen by the operator if they aren't recognized, and checked again", async () => {
    const campaign = await draft()
    const unclear = await send(operator, campaign, csv("a,b,c", `x,,${npi(1)}`, `y,,${npi(2)}`))
    expect(unclear.words).toContain("Choose a column for: NPI, e-mail address.")
    expect(unclear.document.querySelector("input[name=map]")).toBeNull()
    const choose = (answer: Answer, ...map: ReadonlyArray<string>) => submit(operator, answer, "Check again", { map })
    const again = await choose(unclear, "", "column 2=npi", "column 3=npi")
    expect([again.status, again.document.querySelector("form.rejected [role=alert]")!.textContent]).toEqual([
      400,
      expect.stringContaining("npi is named twice"),
    ])
    const chosen = [...again.document.querySelectorAll("select[name=map] option[selected]")]
    expect(chosen.map((option) => option.getAttribute("value"))).toEqual(["column 2=npi", "column 3=npi"])
    const lacking = await choose(again, "", "", "column 3=npi")
    expect([lacking.status, lacking.words]).toEqual([
      409,
      expect.stringContaining("Choose a column for: e-mail address."),
    ])
    const nonsense = await choose(lacking, "nonsense here", "x".repeat(5000))
    expect(nonsense.status).toBe(400)
    const done = await choose(nonsense, "", "column 2=email", "column 3=npi")
    expect(done.words).toMatch(/the e-mail address is not valid.*?22; 3/)
    expect(done.words).toContain("No lines to import.")
  })

  it("contain the fields that the campaign requires, and additional ones that the operator names", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 0 }))
    await test().run(sql`update campaigns set fields = '{first_name}' where id = ${campaign.id}`)
    const checked = await send(operator, campaign, csv("npi,email,Given,Specialty", `${line(1)},Ada,Oncology`))
    expect(checked.words).toContain("Choose a column for: first_name.")
    const done = await submit(operator, checked, "Check again", {
      map: ["npi", "email", "first_name", "specialty"].map((content, i) => `column ${i + 1}=${content}`),
    })
    expect(done.words).toContain("Ada")
    await submit(operator, done, "Import")
    const [row] = await test().run(sql<{ fields: object }>`
      select fields from recipient_fields where organization_id = ${campaign.organizationId}`)
    expect(row!.fields).toEqual({ first_name: "Ada", specialty: "Oncology" })
  })
})

describe("a list that was sent", () => {
  it("is imported once, and only by the operator who sent it", async () => {
    const campaign = await draft()
    const other = await test().as("operator")
    const checked = await send(operator, campaign, csv("npi,email", line(1)))
    const address = checked.document.querySelector('form.action input[name="page"]')!.getAttribute("value")!
    expect((await operator.get(address)).words).toContain("New recipients1")
    expect((await other.get(address)).words).toContain("The uploaded list has expired")
    const submission = crypto.randomUUID()
    const foreign = await submit(other, checked, "Import", { submission })
    expect([foreign.status, foreign.words]).toEqual([409, expect.stringContaining("The uploaded list has expired")])
    const results = await Promise.all([1, 2].map(() => submit(operator, checked, "Import")))
    expect(results.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await operator.get(address)).words).toContain("The uploaded list has expired")
    expect((await operator.get(pathOf(campaign))).document.querySelectorAll("tbody tr")).toHaveLength(1)
  })

  it("stays available while the campaign accepts no recipients", async () => {
    const campaign = await draft()
    const checked = await send(operator, campaign, csv("npi,email", line(1)))
    const setStatus = (status: string) =>
      test().run(sql`update campaigns set status = ${status} where id = ${campaign.id}`)
    await setStatus("scheduled")
    const refused = await submit(operator, checked, "Import")
    expect([refused.status, refused.words]).toEqual([409, expect.stringContaining("is scheduled; this needs it to be")])
    expect((await operator.get(pathOf(campaign))).words).toContain("This one is scheduled.")
    await setStatus("paused")
    expect((await submit(operator, refused, "Import")).words).toContain("Imported1")
  })
})
