import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { changeAttempts } from "@outreach/testing/changeAttempts"
import { KEY_RECIPIENTS } from "@outreach/testing/keyRecipients"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { dumpColumns, namingPerson, person, seedPerson } from "@outreach/testing/seedPerson"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runFailing, runJson, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-clinicians-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** The tables that name the person, in any form. */
const naming = (columns: Readonly<Record<string, string>>, token: string) => [
  ...new Set(namingPerson(columns, token).map((column) => column.split(".")[0])),
]

const exportOf = (organization: string, ...flags: ReadonlyArray<string>) => [
  ...["clinicians", "export", "--organization", organization, "--npi", person.npi],
  ...flags,
]

const eraseOf = (organization: string, ...flags: ReadonlyArray<string>) => [
  ...["clinicians", "erase", "--organization", organization, "--npi", person.npi],
  ...flags,
]

describe("ops clinicians erase", () => {
  it("leaves neither NPI nor address nor token in any table, and everything of others", async () => {
    const { organization, campaign, token, recipientId } = await meanwhile(seedPerson())
    expect(naming(await meanwhile(dumpColumns), token)).toEqual([
      ...["dead_letters", "delivered", "delivery_attempts", "events", "hits", "inbox"],
      ...[
        "organization_suppressions",
        "qualifications",
        "recipient_fields",
        "recipient_keys",
        "recipients",
        "replies",
        "stored_responses",
      ],
      "suppressions",
    ])
    const digest = ["digests", "verify", new Date().toISOString().slice(0, 10)]
    await runJson(...digest)

    const planned = await runJson(...eraseOf(organization.id, "--dry-run"))
    expect(naming(await meanwhile(dumpColumns), token)).toHaveLength(14)
    const { counts, outcome, ...certificate } = await runJson(...eraseOf(organization.id, "--yes"))
    expect({ counts, outcome }).toEqual({ counts: planned.counts, outcome: "erased" })
    expect(counts).toEqual({
      ...{
        recipients: 1,
        recipient_keys: 1,
        recipient_fields: 1,
        messages: 0,
        message_attempts: 1,
        unsubscriptions: 1,
        suppressions: 2,
        qualifications: 2,
      },
      ...{
        complaints: 1,
        late_refusals: 1,
        replies: 1,
        organization_suppressions: 1,
        events: 3,
        hits: 2,
        inbox: 4,
        stored_responses: 2,
      },
      ...{ dead_letters: 1, delivered: 1, delivery_attempts: 2 },
    })
    expect(certificate).toMatchObject({ organization_id: organization.id, finished_at: expect.any(String) })
    expect(certificate.hashes).toContain(certificate.subject)

    const after = await meanwhile(dumpColumns)
    expect(naming(after, token)).toEqual([])
    expect(after["events.body"]).toContain(npi(1))
    expect(after["stored_responses.body"]).toContain(npi(1))
    expect(after["inbox.body"]).toContain(email(1))
    await runJson(...digest)

    // The record is still there, moved in the feed, with values that are nobody's.
    const found = await meanwhile(
      Effect.flatMap(RecipientRepository, (recipients) =>
        Effect.all({
          byToken: recipients.find(organization.id, token),
          records: recipients.pageOfCampaign(organization.id, campaign.id, undefined, 10),
        }),
      ),
    )
    expect(found.byToken).toBeUndefined()
    expect(found.records).toHaveLength(3)
    expect(found.records.at(-1)).toMatchObject({
      id: recipientId,
      npi: expect.stringMatching(/^0\d{9}$/),
      email: expect.stringMatching(/^\d{8}@erased\.invalid$/),
    })

    expect(await runJson(...eraseOf(organization.id, "--yes"))).toEqual({ counts, outcome: "repeated", ...certificate })
  })

  it("goes on suppressing the clinicians that it erased, by the partner's events and by imports", async () => {
    const seeded = await meanwhile(seedPerson())
    const { organization, program, token } = seeded
    await runJson(...eraseOf(organization.id, "--yes"))
    const { draft, published } = await meanwhile(
      Effect.gen(function* () {
        const data = { ...person, consumer_program_slug: program.slug, attribution: "organic", token: null }
        yield* receiveEvent(seeded, "evt_11", "clinician.account_created", { ...data, email: "ada@home.test" })
        yield* receiveEvent(seeded, "evt_12", "clinician.completer_qualified", data)
        yield* receiveEvent(seeded, "evt_13", "clinician.account_created", { ...data, npi: npi(7) })
        while (yield* applyBatches) {}
        const sql = yield* SqlClient.SqlClient
        const [draft] = yield* sql<{ id: string }>`
          insert into campaigns (organization_id, id, program_id, name, kind, subject, html, window_start, window_end)
          select organization_id, make_id('cmp'), program_id, name, kind, subject, html, window_start, window_end from campaigns
          where id = ${seeded.campaign.id} returning id`
        // By hand, past the rules of an import.
        yield* sql`
          insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
          values (${organization.id}, make_id('rcp'), ${draft!.id}, ${program.id}, 'oldone', ${person.npi}, 'ada@old.test',
            clock_timestamp(), clock_timestamp())`
        yield* sql.unsafe(KEY_RECIPIENTS)
        yield* sql`
          insert into campaign_count_changes (organization_id, campaign_id, recipients)
          values (${organization.id}, ${draft!.id}, 1)`
        yield* scheduleCampaign(draft!.id as typeof seeded.campaign.id)
        while (yield* publishChunk()) {}
        const published = yield* sql<{ reason: string | null }>`
          select withdrawal_reason as reason from recipients where campaign_id = ${draft!.id} and published_at is null`
        yield* sql`update campaigns set status = 'draft' where id = ${draft!.id}`
        return { draft: draft!.id, published }
      }),
    )
    expect(published).toEqual([{ reason: "suppressed" }])
    const path = join(folder, "again.csv")
    const lines = [`${npi(20)},${person.email}`, `${npi(21)},ADA@home.test`, `${npi(22)},new@clinic.test`]
    writeFileSync(path, ["npi,email", ...lines].join("\n"))
    const load = ["recipients", "import", "--campaign", draft, path]
    expect(await runJson(...load)).toMatchObject({ imported: 1, suppressed: 2 })
    const add = ["suppressions", "create", "--program", program.id, "--npi", person.npi]
    expect(await runJson(...add)).toMatchObject({ added: 0 })

    await runJson(...eraseOf(organization.id, "--yes"))
    expect(naming(await meanwhile(dumpColumns), token)).toEqual([])
    await runJson("digests", "verify", new Date().toISOString().slice(0, 10))

    const refused = await run(load, { SECRETS_KEY: "" })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/SECRETS_KEY/) })
  })

  it("is finished by the same command after it was cut off, and says so", async () => {
    const { organization, token } = await meanwhile(seedPerson())
    const statement = (text: string) => meanwhile(SqlClient.SqlClient.use((sql) => sql.unsafe(text)))
    await statement("alter table hits add constraint cut_off check (address <> '') not valid")
    expect(await runFailing(...eraseOf(organization.id, "--yes"))).toMatchObject({ code: "database_failure" })
    expect(naming(await meanwhile(dumpColumns), token)).toContain("hits")
    await statement("alter table hits drop constraint cut_off")

    expect(await runJson(...eraseOf(organization.id, "--dry-run"))).toMatchObject({ is_unfinished: true })
    expect(await runFailing(...exportOf(organization.id))).toMatchObject({ code: "erasure_unfinished" })
    expect(await runJson(...eraseOf(organization.id, "--yes"))).toMatchObject({
      outcome: "resumed",
      counts: { recipients: 1, events: 3, hits: 2, inbox: 4, delivered: 1 },
    })
    expect(naming(await meanwhile(dumpColumns), token)).toEqual([])
    expect(await runJson(...eraseOf(organization.id, "--yes"))).toMatchObject({ outcome: "repeated" })
  })
})

describe("ops clinicians export", () => {
  it("writes what every table holds on the person, and no NPI, address or token of anybody else", async () => {
    const seeded = await meanwhile(seedPerson())
    const { organization, campaign, token, recipientId } = seeded
    const others = await meanwhile(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const others = yield* sql<{ id: string; token: string; npi: string; email: string }>`
          select id, token, npi, email from recipients where organization_id = ${organization.id} and id <> ${recipientId}`
        const [other] = others
        yield* sql`
          insert into messages (organization_id, recipient_id, campaign_id, due_at)
          values (${organization.id}, ${recipientId}, ${campaign.id}, clock_timestamp() + interval '1 day')`
        const list = [
          { ...person, name: "Ada" },
          { ...other, name: "Grace" },
        ]
        yield* receiveEvent(seeded, "evt_06", "clinician.seen", {
          list,
          by: { email: other!.email },
          note: other!.token,
        })
        const quote = `${other!.npi} and ${encodeURIComponent(other!.email)} are not ${person.email}, see /l/${other!.token}`
        yield* changeAttempts(organization.id, (attempts) =>
          attempts.map((attempt) => ({ ...attempt, response: quote })),
        )
        return others
      }),
    )
    const { code, stdout, stderr } = await run(exportOf(organization.id))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    for (const { id, token, npi, email } of others) {
      for (const each of [id, token, npi, email, encodeURIComponent(email)]) expect(stdout).not.toContain(each)
    }
    expect(stdout).not.toContain("Grace")

    const { organization_id, exported_at, clinician, ...tables } = JSON.parse(stdout)
    expect({ organization_id, clinician }).toEqual({
      organization_id: organization.id,
      clinician: { npis: [person.npi], emails: [person.email] },
    })
    const counts = Object.fromEntries(Object.entries<Array<unknown>>(tables).map(([name, rows]) => [name, rows.length]))
    expect(counts).toEqual({
      ...{
        recipients: 1,
        recipient_keys: 1,
        recipient_fields: 1,
        message_attempts: 1,
        messages: 1,
        unsubscriptions: 1,
        suppressions: 2,
        qualifications: 2,
        events: 3,
        hits: 2,
      },
      ...{
        complaints: 1,
        late_refusals: 1,
        replies: 1,
        organization_suppressions: 1,
        inbox: 5,
        stored_responses: 2,
        deliveries: 1,
        delivery_attempts: 2,
        dead_letters: 1,
        delivered: 2,
      },
    })
    expect(tables.recipients[0]).toMatchObject({ id: recipientId, token, ...person, campaign_id: campaign.id })
    const entries = tables.events.flatMap(
      ({ body }: { body: { data: { recipients?: Array<unknown> } } }) => body.data.recipients ?? [],
    )
    expect(entries).toEqual([expect.objectContaining({ service_recipient_id: recipientId, token, ...person })])
    expect(tables.hits).toContainEqual(
      expect.objectContaining({
        link: `https://partner.test/l/${token}`,
        address: "198.51.100.7",
        headers: { "user-agent": `Mail of ${person.email}` },
      }),
    )
    expect(tables.inbox[0].body.data).toMatchObject({ email: person.email.toUpperCase(), name: "Ada" })
    expect(tables.inbox.at(-1).body.data).toEqual({ list: [{ ...person, name: "Ada" }], note: "[withheld]" })
    const named = { key: "names-them", status: 200, body: { data: [{ token, npi: person.npi }] } }
    expect(tables.stored_responses).toContainEqual({ ...named, created_at: expect.any(String) })
    expect(tables.stored_responses).toContainEqual(
      expect.objectContaining({
        key: "names-them-at-length",
        body: { data: Array.from({ length: 100 }, () => ({ token, email: person.email })) },
      }),
    )
    expect(tables.dead_letters[0].attempts[0].response).toBe(
      `[withheld] and [withheld] are not ${person.email}, see /l/[withheld]`,
    )

    await runJson(...eraseOf(organization.id, "--yes"))
    const again = await run(exportOf(organization.id))
    expect(again).toMatchObject({ code: 0, stderr: "Nothing is held on the clinician.\n" })
    expect(JSON.parse(again.stdout)).toEqual({
      organization_id: organization.id,
      exported_at: expect.any(String),
      clinician: { npis: [person.npi], emails: [] },
      ...Object.fromEntries(Object.keys(tables).map((name) => [name, []])),
    })
  })

  it("writes to a new file that only its owner can read, without the key of secrets, and overwrites none", async () => {
    const { organization } = await meanwhile(seedCampaign({ recipients: 2 }))
    const path = join(folder, "person.json")
    const { code, stdout } = await run([...exportOf(organization.id, "--out", path), "--output", "json"], {
      SECRETS_KEY: "",
    })
    expect({ code, summary: JSON.parse(stdout) }).toEqual({
      code: 0,
      summary: { organization_id: organization.id, file: path, rows: 2 },
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const written = readFileSync(path, "utf8")
    expect(JSON.parse(written)).toMatchObject({ recipients: [person], events: [] })

    expect(await runFailing(...exportOf(organization.id, "--out", path))).toMatchObject({ code: "unusable_file" })
    expect(readFileSync(path, "utf8")).toBe(written)
    const unknown = exportOf(`org_${"0".repeat(32)}`, "--out", join(folder, "nobody.json"))
    expect(await runFailing(...unknown)).toMatchObject({ code: "organization_not_found" })
    expect(() => statSync(join(folder, "nobody.json"))).toThrow(/ENOENT/)
  })
})
