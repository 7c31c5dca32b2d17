import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce, reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { FOOTER, SENDER_FLAGS } from "@outreach/testing/seedCampaign"
import { column, sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = temporaryFolder("ops-campaigns", afterAll)

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const HTML = `<p>Your link: https://l.test/{{ token }}</p>${FOOTER}`
const html = file("mail.html", HTML)
const FRAGMENT = file("fragment.html", "<p>Dear colleague</p>")

let program: { readonly id: string }
const createProgram = async () => {
  const { id } = await runJson("organizations", "create", "--name", "Acme")
  return runJson("programs", "create", "--organization", id, "--slug", "x", "--name", "X", ...SENDER_FLAGS)
}
beforeAll(async () => {
  program = await createProgram()
})

const creating = (flags: Readonly<Record<string, string>> = {}): ReadonlyArray<string> => {
  const all = {
    ...{ program: program.id, name: "Spring", subject: "An invitation to {{ program_name }}", html },
    ...{ "window-start": "2099-03-01T09:00:00+01:00", "window-end": "2099-03-02T09:00:00Z" },
    ...flags,
  }
  return ["campaigns", "create", ...Object.entries(all).flatMap(([flag, value]) => [`--${flag}`, value])]
}
const create = (flags: Readonly<Record<string, string>> = {}) => runJson(...creating(flags))

const show = async (id: string) => {
  const [shown, { stdout }] = [await runJson("campaigns", "show", id), await run(["campaigns", "show", id])]
  return { shown, stdout }
}

/** Imports recipients, and returns their tokens in the order of their addresses. */
const load = async (id: string, ...lines: ReadonlyArray<string>) => {
  await runJson("recipients", "import", "--campaign", id, file("list.csv", lines.join("\n")))
  return await meanwhile(column<string>`select token from recipients where campaign_id = ${id} order by email`)
}

const preview = async (id: string, ...flags: ReadonlyArray<string>) => {
  const shown = await runJson("campaigns", "preview", id, "--out", join(folder, "out"), ...flags)
  return { shown, eml: readFileSync(shown.eml, "utf8"), html: readFileSync(shown.html, "utf8") }
}

it("campaigns list lists campaigns with their counts, without their bodies", async () => {
  const { html: _html, text: _text, ...listed } = await create({ kind: "survey" })
  const { data } = await runJson("campaigns", "list", "--limit", "1")
  expect(data).toEqual([
    {
      ...{ ...listed, program_name: "X", organization_name: "Acme", recipients: 0, sent: 0 },
      ...{ complained: 0, complaint_level: "low", unsubscribed: 0 },
      totals: expect.objectContaining({ recipients: 0, withdrawn: 0, unsuspected_opened: 0 }),
    },
  ])
  expect((await run(["campaigns", "list"])).stdout).toMatch(/^id +program_id +name +kind +status +recipients +sent /m)
})

describe("campaigns create", () => {
  it("creates a draft with the window in UTC", async () => {
    expect(await create()).toMatchObject({
      id: expect.stringMatching(/^cmp_[0-9a-f]{32}$/),
      ...{ status: "draft", kind: "traffic", pause_on_complaints: false },
      ...{ window_start: "2099-03-01T08:00:00.000000Z", window_end: "2099-03-02T09:00:00.000000Z" },
    })
  })

  it.each([
    ["does not exist", () => join(folder, "none.html")],
    ["is neither a regular file nor a pipe", () => folder],
    ["holds more than 1 MiB", () => file("big.html", "x".repeat(1_048_577))],
    ["is not text in UTF-8", () => file("latin1.html", new Uint8Array([0x3c, 0xe9, 0x3e]))],
    ["is not text in UTF-8", () => file("nul.html", "a\0b")],
    ["is blank", () => file("blank.html", " \n")],
  ])("rejects a body whose file %s", async (reason, path) => {
    expect(await runFailing(...creating({ html: path() }))).toMatchObject({ code: "unusable_file", reason, exit: 1 })
  })

  it("rejects a text part without a file", async () => {
    expect(await runFailing(...creating({ text: join(folder, "none") }))).toMatchObject({ code: "unusable_file" })
  })
})

it("campaigns preflight lists the checks, and fails if one of them failed", async () => {
  const { id } = await create()
  const checked = await runFailing("campaigns", "preflight", id)
  expect(checked).toMatchObject({ code: "campaign_not_ready", exit: 1, failed: ["recipients"] })
  expect(checked.checks).toContainEqual({
    ...{ check: "recipients", status: "failed", found: "No recipient is imported." },
    advice: "Import recipients.",
    command: ["recipients", "import", "list.csv", "--campaign", id],
  })
  expect((await run(["campaigns", "preflight", id])).stdout).toMatch(/^ok +unsubscribe: The e-mail shows a link/m)
})

describe("campaigns show", () => {
  it("shows the body and the progress, once or until sending ends", async () => {
    const { id } = await create()
    const { shown, stdout } = await show(id)
    expect(shown).toMatchObject({
      ...{ id, status: "draft", html: HTML, pauses: [] },
      progress: { recipients: 0, published: 0, queued: 0, sent: 0, bounced: 0, answered: 0 },
      waits_for: "Draft. Schedule it to send e-mails.",
    })
    expect(stdout).toMatch(/░{40} 0% · 0 sent, 0 bounced of 0/)
    const { code, stderr } = await run(["campaigns", "show", id, "--follow"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: `draft · ${"░".repeat(40)} 0% · 0 sent, 0 bounced of 0\n` })
  })

  it("shows the progress, the paused domains, late refusals and complaints", async () => {
    // Its complaint suppresses a recipient in the whole organization.
    const { id } = await create({ program: (await createProgram()).id })
    await load(id, "npi,email", "1234567893,a@a.test", "1000000004,b@b.test", "1000000012,c@c.test")
    await meanwhile(function* () {
      const sent = yield* sql<{ id: RecipientId }>`
        update recipients set sent_at = clock_timestamp() where campaign_id = ${id} and email <> 'c@c.test' returning id`
      yield* sql`
        insert into campaign_count_changes (organization_id, campaign_id, sent, answered)
        select organization_id, id, 2, 2 from campaigns where id = ${id}`
      yield* sql`
        insert into campaign_domains (organization_id, campaign_id, domain, pause_status, paused_until)
        select organization_id, id, 'c.test', '550 5.7.1', clock_timestamp() + interval '1 hour'
        from campaigns where id = ${id}`
      const blocked = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Listed" } as const
      for (const recipient of sent) yield* reportBounce(recipient.id, blocked)
      yield* reportComplaint(sent[0]!.id, "abuse")
    })
    const { shown, stdout } = await show(id)
    expect(shown.progress).toMatchObject({ sent: 2, refused_later: 2, bounced: 0, complained: 1 })
    expect(stdout).toMatch(/█{26}░{14} 66% · .*2 sent, 0 bounced, 2 rejected later, 1 complained of 3$/m)
    expect(stdout).toMatch(/^complained +1$/m)
    expect(stdout).toContain("Of 2 accepted messages: complaints 50 % (fewer than 3, too few to judge)")
    expect(stdout).toMatch(/c\.test\s+550 5\.7\.1/)
    expect(stdout).toMatch(/refused later, by cause.*\n.*\n.*policy\s+all\s+2\n.*policy\s+a\.test\s+1\n/)
  })
})

describe("campaigns preview", () => {
  it("writes the message to a recipient or a placeholder, with links that are not valid", async () => {
    const link = file("link.html", `<a href="{{ short_link }}">Go</a> {{ token }}${FOOTER}`)
    const { id } = await create({ html: link, "short-link": "https://go.partner.test/{token}" })
    const [token] = await load(id, "npi,email", "1234567893,dana@clinic.test")
    const { shown, eml, html } = await preview(id, "--recipient", token!)
    expect(shown).toMatchObject({ subject: "An invitation to X", eml: join(folder, "out", `${id}.eml`) })
    const unsubscribe = "List-Unsubscribe-Post: List-Unsubscribe=One-Click"
    for (const header of ["To: dana@clinic.test", unsubscribe, "multipart/alternative"]) expect(eml).toContain(header)
    expect(html).toMatch(
      new RegExp(
        `^<a href="http://127.0.0.1:8080/l/[\\w-]+">Go</a> ${token}<p>Acme Health, 1 Main Street, Springfield, IL 62701.`,
      ),
    )
    expect((await preview(id)).eml).toContain("To: recipient@example.invalid")
    const other = (await create()).id
    expect(await runFailing("campaigns", "preview", other, "--recipient", token!)).toMatchObject({
      code: "recipient_not_found",
    })
    expect(await runFailing("campaigns", "preview", id, "--out", link)).toMatchObject({ code: "folder_unusable" })
  })

  it("renders the fields of a recipient or samples, and checks all recipients for missing fields", async () => {
    const { id } = await create({
      subject: "For {{ first_name }}",
      html: file("fields.html", `<p>{{ specialty | default: "Medicine" }}</p>${FOOTER}`),
      fields: "first_name,specialty",
    })
    const header = "npi,email,first_name,specialty"
    const rows = ["1234567893,dana@clinic.test,Dana & Co,", "1000000004,sam@clinic.test,Sam,"]
    const [dana, sam] = await load(id, header, ...rows)
    expect(await runJson("campaigns", "preview", id, "--check")).toEqual({ campaign_id: id, checked: 2, unrendered: 0 })
    await meanwhile(sql`
      delete from recipient_fields
      where recipient_id = (select id from recipients where campaign_id = ${id} and token = ${sam!})`)
    const reason = "the subject needs first_name, which is missing"
    expect(await runFailing("campaigns", "preview", id, "--check")).toMatchObject({
      ...{ code: "recipients_not_rendered", checked: 2, unrendered: 1, exit: 1 },
      first: [{ token: sam, reason }],
    })
    const { stderr } = await run(["campaigns", "preview", id, "--check"])
    expect(stderr).toContain(`recipient ${sam}: ${reason}\n`)
    expect(stderr).toContain("1 of 2 recipients do not render")

    const { shown, html } = await preview(id, "--recipient", dana!)
    expect(shown.subject).toBe("For Dana & Co")
    expect(html).toContain("<p>Medicine</p>")
    const unrendered = await runFailing("campaigns", "preview", id, "--recipient", sam!)
    expect(unrendered).toMatchObject({ code: "recipient_not_rendered", reason })
    const sample = await preview(id)
    expect(sample.shown.subject).toBe("For [first_name]")
    expect(sample.html).toContain("<p>[specialty]</p>")
  })

  it("shows the plain layout, and a separate text part with the footer", async () => {
    const wrapped = await preview((await create({ html: FRAGMENT, layout: "plain" })).id)
    expect(wrapped.html).toContain("about X from Acme Health, 1 Main Street, Springfield, IL 62701")
    expect(wrapped.eml).toMatch(/^Dear colleague\r\n/m)
    const text = file("separate.txt", "Dear colleague,\n\nhttps://l.test/{{ token }}\n")
    const { id } = await create({ text, layout: "plain" })
    expect((await show(id)).shown.text).toContain("{{ postal_address }}")
    expect((await preview(id)).eml).toMatch(/^Dear colleague,\r\n\r\nhttp:\/\/127\.0\.0\.1:8080\/l\//m)
  })
})
