import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { FOOTER, SENDER_FLAGS } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-campaigns-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const HTML = `<p>Your link: https://l.test/{{ token }}</p>${FOOTER}`
const html = file("mail.html", HTML)

const create = async (flags: Record<string, string> = {}): Promise<ReadonlyArray<string>> => {
  const { id } = await runJson("organizations", "create", "--name", "Acme")
  const program = await runJson(
    "programs",
    "create",
    "--organization",
    id,
    "--slug",
    "x",
    "--name",
    "X",
    ...SENDER_FLAGS,
  )
  const all = {
    program: program.id,
    name: "Spring",
    subject: "An invitation to {{ program_name }}",
    html,
    "window-start": "2099-03-01T09:00:00+01:00",
    "window-end": "2099-03-02T09:00:00Z",
    ...flags,
  }
  return ["campaigns", "create", ...Object.entries(all).flatMap(([flag, value]) => [`--${flag}`, value])]
}

describe("campaigns", () => {
  it("are listed newest first, without their bodies, by organization, program and status", async () => {
    const first = await runJson(...(await create()))
    const second = await runJson(...(await create({ name: "Autumn" })))
    const ids = async (...flags: ReadonlyArray<string>) => {
      const { data, has_more } = await runJson("campaigns", "list", ...flags)
      return { ids: data.map(({ id }: { id: string }) => id), has_more }
    }
    expect((await ids()).ids.slice(0, 2)).toEqual([second.id, first.id])
    expect(await ids("--limit", "1")).toEqual({ ids: [second.id], has_more: true })
    expect(await ids("--organization", first.organization_id)).toEqual({ ids: [first.id], has_more: false })
    expect(await ids("--program", second.program_id)).toEqual({ ids: [second.id], has_more: false })
    expect(await ids("--program", second.program_id, "--status", "sending")).toEqual({ ids: [], has_more: false })
    const { data } = await runJson("campaigns", "list", "--program", second.program_id)
    const { html: _html, text: _text, ...listed } = second
    expect(data).toEqual([
      {
        ...listed,
        follow_up_of: null,
        program_name: expect.any(String),
        organization_name: expect.any(String),
        recipients: 0,
        sent: 0,
        complained: 0,
        complaint_level: "low",
        unsubscribed: 0,
        totals: expect.objectContaining({ recipients: 0, withdrawn: 0, unsuspected_opened: 0 }),
      },
    ])
    expect((await run(["campaigns", "list"])).stdout).toMatch(/^id +program_id +name +kind +status +recipients +sent /m)
  })

  it("are listed by kind and a part of the name, page by page", async () => {
    const [first, second] = [
      await runJson(...(await create({ name: "Zebra mailing", kind: "survey" }))),
      await runJson(...(await create({ name: "ZEBRA reminder", kind: "survey" }))),
    ]
    const idsOf = async (...flags: ReadonlyArray<string>) =>
      (await runJson("campaigns", "list", "--text", "zebra", ...flags)).data.map(({ id }: { id: string }) => id)
    expect(await idsOf("--kind", "survey")).toEqual([second.id, first.id])
    expect(await idsOf("--kind", "survey", "--after", second.id)).toEqual([first.id])
    expect(await idsOf("--kind", "traffic")).toEqual([])
  })

  it("get another rate, also none, unless they are over", async () => {
    const { id } = await runJson(...(await create()))
    expect((await runJson("campaigns", "update", id, "--per-minute", "250")).per_minute).toBe(250)
    expect((await runJson("campaigns", "update", id, "--per-minute", "none")).per_minute).toBeNull()
    await runJson("campaigns", "cancel", id, "--yes")
    expect(await runFailing("campaigns", "update", id, "--per-minute", "9")).toMatchObject({
      code: "campaign_not_in_status",
      status: "cancelled",
    })
  })

  it("are paused by complaints if they are created so, or changed to it, unless they are over", async () => {
    const { id, pause_on_complaints } = await runJson(...(await create()))
    expect(pause_on_complaints).toBe(false)
    expect(await runJson(...(await create()), "--pause-on-complaints")).toMatchObject({ pause_on_complaints: true })
    expect((await runJson("campaigns", "update", id, "--pause-on-complaints")).pause_on_complaints).toBe(true)
    expect((await runJson("campaigns", "update", id, "--no-pause-on-complaints")).pause_on_complaints).toBe(false)
    await runJson("campaigns", "cancel", id, "--yes")
    expect(await runFailing("campaigns", "update", id, "--pause-on-complaints")).toMatchObject({
      code: "campaign_not_in_status",
      status: "cancelled",
    })
  })

  it("are checked before they are sent", async () => {
    const { id } = await runJson(...(await create()))
    const refused = await runFailing("campaigns", "preflight", id)
    expect(refused).toMatchObject({ code: "campaign_not_ready", exit: 1, failed: ["recipients"] })
    expect(refused.checks).toContainEqual({
      check: "recipients",
      status: "failed",
      found: "No recipient is imported.",
      advice: `Import them: ops recipients import --campaign ${id} <file>.`,
    })
    expect((await run(["campaigns", "preflight", id])).stdout).toMatch(/^ok +unsubscribe: The e-mail shows a link/m)
  })

  it("show the hours in which they send", async () => {
    const { id, hours } = await runJson(...(await create({ hours: "8-18" })))
    expect([hours, (await runJson("campaigns", "show", id)).hours]).toEqual(["8-18", "8-18"])
    expect((await run(["campaigns", "show", id])).stdout).toMatch(/^hours +8-18$/m)
    expect((await runJson(...(await create()))).hours).toBeNull()
    const refused = await runFailing(...(await create({ hours: "18-8" })))
    expect(refused).toMatchObject({
      code: "usage",
      message: expect.stringContaining(
        "hours such as 8-18: two numbers from 0 to 24, the second greater by 2 at least",
      ),
    })
  })

  it("begin as drafts, with the window in UTC", async () => {
    expect(await runJson(...(await create()))).toMatchObject({
      id: expect.stringMatching(/^cmp_[0-9a-f]{32}$/),
      status: "draft",
      kind: "traffic",
      window_start: "2099-03-01T08:00:00.000000Z",
      window_end: "2099-03-02T09:00:00.000000Z",
    })
    expect((await runJson(...(await create({ kind: "survey" })))).kind).toBe("survey")
  })

  it("are refused while a check fails, unless that check is named", async () => {
    const { id } = await runJson(...(await create()))
    const refused = await runFailing("campaigns", "schedule", id)
    expect(refused).toMatchObject({ code: "campaign_not_ready", exit: 1, failed: ["recipients"] })
    expect(refused.message).toContain(`recipients: No recipient is imported. Import them: ops recipients import`)
    expect(refused.message).toContain("--force recipients")
    expect(await runFailing("campaigns", "schedule", id, "--force", "quota,window")).toMatchObject({
      code: "campaign_not_ready",
    })
    expect(await runFailing("campaigns", "schedule", id, "--force", "everything")).toMatchObject({
      code: "usage",
      message: expect.stringContaining("one or more of recipients, suppressed, window"),
    })
    expect((await runJson("campaigns", "schedule", id, "--force", "recipients,quota")).status).toBe("scheduled")
  })

  it("are scheduled, paused, scheduled again and cancelled", async () => {
    const { id } = await runJson(...(await create()))
    await runJson("recipients", "import", "--campaign", id, file("one.csv", "npi,email\n1234567893,a@a.test\n"))
    const status = async (...command: ReadonlyArray<string>) => (await runJson("campaigns", ...command, id)).status
    expect(await status("schedule")).toBe("scheduled")
    expect(await status("pause")).toBe("paused")
    expect(await status("resume")).toBe("scheduled")
    expect(await status("pause")).toBe("paused")
    expect(await status("schedule")).toBe("scheduled")
    expect(await status("cancel", "--yes")).toBe("cancelled")
    expect(await runFailing("campaigns", "schedule", id)).toMatchObject({
      code: "campaign_not_in_status",
      status: "cancelled",
      exit: 1,
    })
  })

  it("show who paused or cancelled them, and why, as the audit log does", async () => {
    const { id } = await runJson(...(await create()))
    await runJson("campaigns", "schedule", id, "--force", "recipients")
    const reason = "The partner asked to wait"
    const paused = await runJson("campaigns", "pause", id, "--reason", reason)
    expect(paused).toMatchObject({ stopped_by: expect.any(String), stop_reason: reason })
    const { stdout } = await run(["campaigns", "show", id])
    expect(stdout).toMatch(/stop_reason +The partner asked to wait/)
    const log = await runJson("audit", "list", "--command", "campaigns pause", "--limit", "1")
    expect(log.data).toMatchObject([{ arguments: { campaign: id, reason } }])
    expect(await runFailing("campaigns", "cancel", id, "--yes", "--reason", "j@acme.test")).toMatchObject({
      code: "usage",
      message: expect.stringContaining("without an e-mail address or an NPI"),
    })
    expect(await runJson("campaigns", "cancel", id, "--yes")).toMatchObject({ stop_reason: null })
  })

  it("are shown with their body and how far they have come", async () => {
    const { id } = await runJson(...(await create()))
    expect(await runJson("campaigns", "show", id)).toMatchObject({
      id,
      status: "draft",
      html: HTML,
      progress: { recipients: 0, published: 0, queued: 0, sent: 0, bounced: 0, answered: 0 },
      pauses: [],
      waits_for: "It is a draft: nothing goes out until somebody schedules it.",
    })
    const { stdout } = await run(["campaigns", "show", id])
    expect(stdout).toMatch(/░{40} 0% · 0 sent, 0 bounced of 0/)
  })

  it("compare two subjects, and show how the test stands", async () => {
    const { id } = await runJson(
      ...(await create({ "subject-b": "A seat is kept for you", "ab-share": "20", "ab-after": "4h" })),
    )
    expect((await runJson("campaigns", "show", id)).subject_test).toEqual({
      subject_b: "A seat is kept for you",
      share: 20,
      after_seconds: 14_400,
      began_at: null,
      winner: null,
      decided_at: null,
      decides_at: null,
      counts: null,
      figures: [],
    })
    const preview = await runJson("campaigns", "preview", id, "--out", join(folder, "out"))
    expect(preview).toMatchObject({
      ...{ subject: "An invitation to X", eml: join(folder, "out", `${id}.eml`) },
      ...{ subject_b: "A seat is kept for you", eml_b: join(folder, "out", `${id}-b.eml`) },
    })
    expect(readFileSync(preview.eml, "utf8")).toMatch(/^Subject: An invitation to X\r?$/m)
    expect(readFileSync(preview.eml_b, "utf8")).toMatch(/^Subject: A seat is kept for you\r?$/m)
    await runJson("recipients", "import", "--campaign", id, file("ab.csv", "npi,email\n1234567893,a@a.test\n"))
    const sql = await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          update subject_tests set winner = 'b', decided_at = '2026-12-01T13:00:00Z',
            counts = '{"a": {"sent": 40, "clicked": 1}, "b": {"sent": 41, "clicked": 3}}' where campaign_id = ${id} returning 1`,
      ),
    )
    expect(sql).toHaveLength(1)
    const { stdout } = await run(["campaigns", "show", id])
    for (const line of [
      /^subject_b +A seat is kept for you$/m,
      /^winner +b$/m,
      /^decided_at +2026-12-01 13:00:00 UTC$/m,
      /^decided_by +1 of 40 for A, 3 of 41 for B$/m,
      /^subject +recipients +sent +unique_opened +unsuspected_unique_opened +unique_clicked /m,
      /^others: B +1 +0 +0/m,
    ]) {
      expect(stdout).toMatch(line)
    }
    expect((await runJson("campaigns", "show", (await runJson(...(await create()))).id)).subject_test).toBe(null)
  })

  it.each([
    [
      "the same subject twice",
      { "subject-b": "An invitation to {{ program_name }}", "ab-share": "20", "ab-after": "4h" },
      "invalid_subject_test",
      /same/,
    ],
    [
      "a second subject that does not render",
      { "subject-b": "{{ nobody }}", "ab-share": "20", "ab-after": "4h" },
      "invalid_template",
      /^The subject B is not/,
    ],
    [
      "a decision after the window",
      { "subject-b": "B", "ab-share": "20", "ab-after": "2d" },
      "invalid_subject_test",
      /window is over/,
    ],
    ["a winner without a time", { "subject-b": "B", "ab-share": "20" }, "invalid_subject_test", /such as 4h/],
    [
      "a time where neither can win",
      { "subject-b": "B", "ab-share": "100", "ab-after": "4h" },
      "invalid_subject_test",
      /nobody waits/,
    ],
    ["a subject without a share", { "subject-b": "B" }, "incomplete_subject_test", /both subject B and a share/],
    ["a share without a subject", { "ab-share": "20" }, "incomplete_subject_test", /both subject B and a share/],
    ["a share out of range", { "subject-b": "B", "ab-share": "101" }, "usage", /from 1 to 100/],
  ])("refuse %s", async (_, flags, code, message) => {
    const failure = await runFailing(...(await create(flags as Record<string, string>)))
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it("follow up another campaign, and show which recipients that leaves out and why", async () => {
    const first = await runJson(...(await create()))
    const flags = {
      program: first.program_id,
      "follow-up": first.id,
      unless: "clicked",
      after: "5d",
      "window-start": "2099-03-08T09:00:00Z",
      "window-end": "2099-03-09T09:00:00Z",
    }
    const refused = async (changes: Record<string, string>) => runFailing(...(await create({ ...flags, ...changes })))
    expect(await refused({})).toMatchObject({ code: "invalid_follow_up", message: expect.stringMatching(/is a draft/) })
    await runJson("campaigns", "schedule", first.id, "--force", "recipients")
    const { id } = await runJson(...(await create(flags)))
    const state = { follow_up_of: first.id, unless: "clicked", after_seconds: 432_000, drawn_at: null, skipped: {} }
    expect((await runJson("campaigns", "show", id)).follow_up).toEqual(state)
    expect((await runJson("campaigns", "show", first.id)).follow_up).toBe(null)
    const { data } = await runJson("campaigns", "list", "--program", first.program_id)
    expect(data.map((row: Record<string, unknown>) => [row["id"], row["follow_up_of"]])).toEqual([
      [id, first.id],
      [first.id, null],
    ])
    expect((await run(["campaigns", "list", "--program", first.program_id])).stdout).toMatch(/ +follow_up_of$/m)
    await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          update follow_ups set drawn_at = '2026-12-01T13:00:00Z', skipped = '{"clicked": 12, "suppressed": 3}' where campaign_id = ${id}`,
      ),
    )
    const { stdout } = await run(["campaigns", "show", id])
    for (const line of [
      new RegExp(`^follow_up_of +${first.id}$`, "m"),
      /^unless +clicked$/m,
      /^drawn_at +2026-12-01 13:00:00 UTC$/m,
      /^clicked +12$/m,
      /^suppressed +3$/m,
    ]) {
      expect(stdout).toMatch(line)
    }

    expect(await refused({ "window-start": "2099-03-05T09:00:00Z" })).toMatchObject({
      code: "invalid_follow_up",
      message: expect.stringMatching(/may send until .* cannot start before 2099-03-07T09:00:01/),
    })
    const other = await runJson(...(await create()))
    expect(await refused({ program: other.program_id })).toMatchObject({
      code: "invalid_follow_up",
      message: expect.stringMatching(/of the same program/),
    })
    expect(await refused({ kind: "survey" })).toMatchObject({ code: "invalid_follow_up" })
    expect(await refused({ unless: "opened" })).toMatchObject({ code: "usage" })
    expect(await refused({ "follow-up": `cmp_${"f".repeat(32)}` })).toMatchObject({ code: "campaign_not_found" })
    expect(await runFailing(...(await create({ after: "5d" })))).toMatchObject({ code: "incomplete_follow_up" })
    expect(
      await runFailing("recipients", "import", "--campaign", id, file("none.csv", "npi,email\n1234567893,a@a.test\n")),
    ).toMatchObject({ code: "recipients_drawn" })
  })

  it("are followed until nothing more is sent", async () => {
    const { id } = await runJson(...(await create()))
    const { code, stdout, stderr } = await run(["campaigns", "show", id, "--follow"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: `draft · ${"░".repeat(40)} 0% · 0 sent, 0 bounced of 0\n` })
    expect(stdout).toContain("draft")
  })

  it("are previewed with links that lead nowhere, as the message to one recipient or to nobody", async () => {
    const { id } = await runJson(
      ...(await create({
        html: file("link.html", `<a href="{{ short_link }}">Go</a> {{ token }}${FOOTER}`),
        "short-link": "https://go.partner.test/{token}",
        "per-minute": "600",
      })),
    )
    await runJson("recipients", "import", "--campaign", id, file("one.csv", "npi,email\n1234567893,dana@clinic.test\n"))
    const token = await meanwhile(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ token: string }>`select token from recipients where campaign_id = ${id}`,
      ),
    ).then(([row]) => row!.token)
    const shown = await runJson("campaigns", "preview", id, "--recipient", token, "--out", join(folder, "out"))
    expect(shown).toMatchObject({ subject: "An invitation to X", eml: join(folder, "out", `${id}.eml`) })
    const [eml, html] = [readFileSync(shown.eml, "utf8"), readFileSync(shown.html, "utf8")]
    for (const header of [
      "To: dana@clinic.test",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
      "multipart/alternative",
    ]) {
      expect(eml).toContain(header)
    }
    expect(html).toMatch(
      new RegExp(
        `^<a href="http://127.0.0.1:8080/l/[\\w-]+">Go</a> ${token}<p>Acme Health, 1 Main Street, Springfield, IL 62701.`,
      ),
    )

    await runJson("campaigns", "preview", id, "--out", join(folder, "out"))
    expect(readFileSync(shown.eml, "utf8")).toContain("To: recipient@example.invalid")
    const other = (await runJson(...(await create()))).id
    expect(await runFailing("campaigns", "preview", other, "--recipient", token)).toMatchObject({
      code: "recipient_not_found",
    })
    expect(await runFailing("campaigns", "preview", id, "--out", join(folder, "mail.html"))).toMatchObject({
      code: "folder_unusable",
    })
  })

  it("are checked for recipients whose fields are missing, and previewed with those of one, or with samples", async () => {
    const { id } = await runJson(
      ...(await create({
        subject: "For {{ first_name }}",
        html: file("fields.html", `<p>{{ specialty | default: "Medicine" }}</p>${FOOTER}`),
        fields: "first_name,specialty",
      })),
    )
    const csv = file(
      "fields.csv",
      "npi,email,first_name,specialty\n1234567893,dana@clinic.test,Dana & Co,\n1000000004,sam@clinic.test,Sam,\n",
    )
    await runJson("recipients", "import", "--campaign", id, csv)
    expect(await runJson("campaigns", "preview", id, "--check")).toEqual({ campaign_id: id, checked: 2, unrendered: 0 })
    const [dana, sam] = await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql<{ token: string }>`select token from recipients where campaign_id = ${id} order by email`,
      ),
    )
    await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          delete from recipient_fields
          where recipient_id = (select id from recipients where campaign_id = ${id} and token = ${sam!.token})`,
      ),
    )
    const reason = "the subject needs first_name, which is missing"
    expect(await runFailing("campaigns", "preview", id, "--check")).toMatchObject({
      ...{ code: "recipients_not_rendered", checked: 2, unrendered: 1, exit: 1 },
      first: [{ token: sam!.token, reason }],
    })
    const { stderr } = await run(["campaigns", "preview", id, "--check"])
    expect(stderr).toContain(`recipient ${sam!.token}: ${reason}\n`)
    expect(stderr).toContain("1 of 2 recipients do not render")

    const preview = (...flags: ReadonlyArray<string>) => [
      ...["campaigns", "preview", id, "--out", join(folder, "fields"), ...flags],
    ]
    const shown = await runJson(...preview("--recipient", dana!.token))
    expect(shown.subject).toBe("For Dana & Co")
    expect(readFileSync(shown.html, "utf8")).toContain("<p>Medicine</p>")
    expect(await runFailing(...preview("--recipient", sam!.token))).toMatchObject({
      code: "recipient_not_rendered",
      reason,
    })
    const sample = await runJson(...preview())
    expect(sample.subject).toBe("For [first_name]")
    expect(readFileSync(sample.html, "utf8")).toContain("<p>[specialty]</p>")
  })

  it("are wrapped in a plain layout, whose footer shows what a fragment does not", async () => {
    const fragment = file("fragment.html", "<p>Dear colleague</p>")
    expect(await runFailing(...(await create({ html: fragment })))).toMatchObject({
      code: "sender_not_shown",
      missing: ["senderName", "postalAddress", "unsubscribeUrl"],
    })
    const { id } = await runJson(...(await create({ html: fragment, layout: "plain" })))
    const { eml, html } = await runJson("campaigns", "preview", id, "--out", join(folder, "plain"))
    expect(readFileSync(html, "utf8")).toContain("about X from Acme Health, 1 Main Street, Springfield, IL 62701")
    expect(readFileSync(eml, "utf8")).toContain("from Acme Health, 1 Main")
  })

  it("may begin with a preheader in the plain layout, which a preview shows and a text part leaves out", async () => {
    const given = {
      html: file("begun.html", "<p>Dear colleague</p>"),
      preheader: "Two minutes about {{ program_name }} & you",
    }
    expect(await runFailing(...(await create({ ...given, html })))).toMatchObject({ code: "preheader_without_layout" })
    const misspelt = { ...given, preheader: "{{ programme }}", layout: "plain" }
    expect(await runFailing(...(await create(misspelt)))).toMatchObject({ code: "invalid_template", part: "html" })
    const { id } = await runJson(...(await create({ ...given, layout: "plain" })))
    const preview = await runJson("campaigns", "preview", id, "--out", join(folder, "begun"))
    expect(readFileSync(preview.html, "utf8")).toContain('none;mso-hide:all;">Two minutes about X &amp; you</div>\n')
    expect(readFileSync(preview.eml, "utf8")).toMatch(/^Dear colleague\r\n/m)
  })

  it("may have a text part of their own, which shows the sender as well, or gets the footer of the layout", async () => {
    const text = file("mail.txt", "Dear colleague,\n\nhttps://l.test/{{ token }}\n")
    expect(await runFailing(...(await create({ text })))).toMatchObject({ code: "sender_not_shown", part: "text" })
    expect(await runFailing(...(await create({ text: file("bad.txt", "{{ tokn }}") })))).toMatchObject({
      code: "invalid_template",
      part: "text",
    })
    expect(await runFailing(...(await create({ text: join(folder, "nowhere.txt") })))).toMatchObject({
      code: "text_unusable",
    })
    const { id } = await runJson(...(await create({ text, layout: "plain" })))
    expect((await runJson("campaigns", "show", id)).text).toContain("{{ postal_address }}")
    const { eml } = await runJson("campaigns", "preview", id, "--out", join(folder, "text"))
    expect(readFileSync(eml, "utf8")).toMatch(/^Dear colleague,\r\n\r\nhttp:\/\/127\.0\.0\.1:8080\/l\//m)
  })

  it("show which domains refuse us, and how fast it goes", async () => {
    const { id } = await runJson(...(await create()))
    await runJson(
      "recipients",
      "import",
      "--campaign",
      id,
      file("two.csv", "npi,email\n1234567893,a@a.test\n1000000004,b@b.test\n"),
    )
    await meanwhile(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.all([
          sql`update recipients set sent_at = clock_timestamp() where campaign_id = ${id} and email = 'a@a.test'`,
          sql`
            insert into campaign_count_changes (organization_id, campaign_id, sent, answered)
            select organization_id, id, 1, 1 from campaigns where id = ${id}`,
          sql`
            insert into domain_pauses (organization_id, campaign_id, domain, status, until)
            select organization_id, id, 'b.test', '550 5.7.1', clock_timestamp() + interval '1 hour' from campaigns where id = ${id}`,
        ]),
      ),
    )
    const { stdout } = await run(["campaigns", "show", id])
    expect(stdout).toContain(
      `${"█".repeat(20)}${"░".repeat(20)} 50% · 1 a minute · 1 min left · 1 sent, 0 bounced of 2`,
    )
    expect(stdout).toMatch(/b\.test\s+550 5\.7\.1/)
  })

  it("show which messages were accepted and refused later, by cause and domain", async () => {
    const { id } = await runJson(...(await create()))
    const recipients = file("later.csv", "npi,email\n1234567893,a@a.test\n1000000004,b@b.test\n")
    await runJson("recipients", "import", "--campaign", id, recipients)
    await meanwhile(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sent = yield* sql<{ id: RecipientId }>`
          update recipients set sent_at = clock_timestamp() where campaign_id = ${id} returning id`
        const blocked = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Listed" } as const
        for (const recipient of sent) yield* reportBounce(recipient.id, blocked)
      }),
    )
    expect(await runJson("campaigns", "show", id)).toMatchObject({
      progress: { refused_later: 2, bounced: 0 },
      late_refusals: [
        { domain: null, cause: "policy", messages: 2 },
        { domain: "a.test", cause: "policy", messages: 1 },
        { domain: "b.test", cause: "policy", messages: 1 },
      ],
    })
    const { stdout } = await run(["campaigns", "show", id])
    expect(stdout).toContain("0 sent, 0 bounced, 2 refused later of 2")
    expect(stdout).toMatch(/refused later, by cause.*\n.*\n.*policy\s+all\s+2\n.*policy\s+a\.test\s+1\n/)
  })

  it.each([
    ["does not exist", () => join(folder, "none.html")],
    ["is not a regular file", () => folder],
    ["holds more than 1 MiB", () => file("big.html", "x".repeat(1_048_577))],
    ["is not text in UTF-8", () => file("latin1.html", new Uint8Array([0x3c, 0xe9, 0x3e]))],
    ["is not text in UTF-8", () => file("nul.html", "a\0b")],
    ["is blank", () => file("blank.html", " \n")],
  ])("refuse a body whose file %s", async (reason, path) => {
    expect(await runFailing(...(await create({ html: path() })))).toMatchObject({
      code: "html_unusable",
      reason,
      exit: 1,
    })
  })

  it.each([
    ["invalid_template", { html: file("misspelt.html", "{{ tokn }}") }],
    ["invalid_template", { subject: "{% if %}" }],
    ["invalid_template", { html: file("nowhere.html", "{{ short_link }}") }],
    ["invalid_short_link", { "short-link": "https://go.partner.test/" }],
    ["invalid_short_link", { "short-link": "javascript:alert('{token}')" }],
    ["invalid_window", { "window-end": "2099-03-01T08:00:00Z" }],
    ["invalid_window", { "window-start": "2020-01-01T00:00:00Z", "window-end": "2020-01-02T00:00:00Z" }],
    ["program_not_found", { program: `pgm_${"0".repeat(32)}` }],
  ])("are refused with one sentence: %s %o", async (code, flags) => {
    const args = await create(flags)
    expect(await runFailing(...args)).toMatchObject({ code, exit: 1 })
    expect((await run(args)).stderr.trim().split("\n")).toHaveLength(1)
  })
})
