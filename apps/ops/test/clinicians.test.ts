import { randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { Hit } from "@outreach/domain/hits/Hit"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { judgeHits } from "@outreach/domain/hits/Hits"
import type { HitId, RecipientId } from "@outreach/domain/Identifier"
import { IdempotencyRepository } from "@outreach/domain/idempotency/IdempotencyRepository"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runFailing, runJson, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-clinicians-"))
afterAll(() => rmSync(folder, { recursive: true }))

const person = { npi: npi(0), email: email(0) }

/** An organization that published to three clinicians and sent to them, and heard a lot of the first one. */
const seedPerson = Effect.fnUntraced(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* cancelCampaigns
  const seeded = yield* seedCampaign({ recipients: 3 })
  const { organization, campaign, program } = seeded
  yield* sql`
    insert into recipient_fields (organization_id, recipient_id, fields)
    select organization_id, id, jsonb_build_object('private_address', email) from recipients where campaign_id = ${campaign.id}`
  yield* sendCampaign(campaign.id)
  for (const lease of yield* claimMessages(10)) yield* settleSent(lease)
  const [recipient] = yield* sql<{ id: RecipientId; token: string }>`
    select id, token from recipients where organization_id = ${organization.id} and npi = ${person.npi}`
  const { id, token } = recipient!
  const hit: Hit = {
    id: `hit_${randomUUID().replaceAll("-", "")}` as HitId,
    organizationId: organization.id,
    recipientId: id,
    link: `https://partner.test/l/${token}`,
    method: "GET",
    address: "198.51.100.7",
    headers: { "user-agent": `Mail of ${person.email}` },
  }
  const cameAt = yield* Clock.currentTimeMillis
  yield* (yield* HitRepository).record([{ ...hit, cameAt }])
  yield* judgeHits(organization.id)
  const unjudged = { ...hit, id: `hit_${randomUUID().replaceAll("-", "")}` as HitId, link: null }
  yield* (yield* HitRepository).record([{ ...unjudged, cameAt }])
  yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId: id })

  const data = { ...person, consumer_program_slug: program.slug, attribution: "service_token", token }
  const upper = person.email.toUpperCase()
  yield* receiveEvent(seeded, "evt_01", "clinician.account_created", { ...data, email: upper, name: "Ada" })
  yield* receiveEvent(seeded, "evt_02", "clinician.learner_qualified", data)
  yield* receiveEvent(seeded, "evt_03", "clinician.seen", { at: encodeURIComponent(person.email) })
  yield* receiveEvent(seeded, "evt_04", "clinician.seen", {
    at: Buffer.from(`x${upper.toLowerCase()}`).toString("base64"),
  })
  yield* receiveEvent(seeded, "evt_05", "clinician.learner_qualified", {
    ...data,
    email: email(1),
    npi: npi(1),
    token: "zzzzzz",
  })
  while (yield* applyBatches) {}
  yield* sql`
    insert into complaints (organization_id, campaign_id, recipient_id, feedback_type)
    values (${organization.id}, ${campaign.id}, ${id}, 'abuse')`
  yield* sql`
    insert into organization_suppressions (organization_id, kind, value, reason, applied_at)
    values (${organization.id}, 'email', ${person.email}, 'bounced', clock_timestamp())`

  const answer = {
    status: 200,
    headers: {},
    body: JSON.stringify({ data: [{ token, npi: person.npi }, { npi: npi(1) }] }),
  }
  const request = (key: string) => ({ organizationId: organization.id, key, fingerprint: Buffer.from(key) })
  const responses = yield* IdempotencyRepository
  const bound = 1024 * 1024
  const page = JSON.stringify({ data: Array.from({ length: 100 }, () => ({ token, email: person.email })) })
  yield* responses.store(request("names-them"), answer, bound)
  yield* responses.store(request("names-them-at-length"), { ...answer, body: page }, bound)
  yield* responses.store(request("names-another"), { ...answer, body: JSON.stringify({ npi: npi(1) }) }, bound)
  yield* responses.store(request("has-no-body"), { ...answer, body: null }, bound)
  yield* sql`
    insert into idempotency_keys (organization_id, key, fingerprint, status, headers, body)
    select organization_id, key, fingerprint, status, headers, convert_from(body, 'UTF8') from stored_responses
    where organization_id = ${organization.id} and encoding = 'identity' and body is not null`

  // What the partner answered quotes what it was sent.
  const worker = yield* workerOn()
  const [published, ...others] = yield* worker.take()
  yield* worker.settle(others.slice(0, 2))
  yield* worker.settle([published!], { state: "rejected" }, 400)
  yield* worker.settle(others.slice(2), { state: "retry", delaySeconds: 3600 }, 500)
  const quote = `we have ${person.email} already`
  yield* sql`update dead_letters set attempts = jsonb_set(attempts, '{0,response}', to_jsonb(${quote}::text)) where organization_id = ${organization.id}`
  yield* sql`update delivery_attempts set response = ${quote} where organization_id = ${organization.id}`
  yield* sql`update delivered set deliveries = replace(deliveries::text, '"response":"ok"', ${`"response":"${quote}"`})::json
    where organization_id = ${organization.id}`
  return { ...seeded, token, recipientId: id }
})

/** Every value of every table as text, with what is readable of bytes. */
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const rows = yield* sql<{ row: string }>`select to_jsonb(each)::text as row from ${sql(name)} each`
    found[name] = rows
      .map(({ row }) => row.replaceAll(/\\\\x((?:[0-9a-f]{2})+)/g, (_, hex) => readable(Buffer.from(hex, "hex"))))
      .join("\n")
  }
  return found
})

const ZSTD_MAGIC = Buffer.from("28b52ffd", "hex")

const readable = (bytes: Buffer): string =>
  (bytes.subarray(0, 4).equals(ZSTD_MAGIC) ? zstdDecompressSync(bytes) : bytes)
    .toString("utf8")
    .replaceAll(/[^\x20-\x7e]/g, "?")

/** The tables whose dump names the person, in any form. */
const naming = (tables: Record<string, string>, token: string) => {
  const forms = [person.npi, person.email].flatMap((value) => {
    const base64 = [0, 1, 2].map((offset) =>
      Buffer.from(" ".repeat(offset) + value)
        .toString("base64")
        .slice(4, 4 * Math.floor((offset + value.length) / 3)),
    )
    return [value, encodeURIComponent(value), ...base64]
  })
  return Object.entries(tables).flatMap(([name, text]) =>
    text.includes(token) || forms.some((form) => text.toLowerCase().includes(form.toLowerCase())) ? [name] : [],
  )
}

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
    expect(naming(await meanwhile(dump), token)).toEqual([
      ...["dead_letters", "delivered", "delivery_attempts", "events", "hits", "idempotency_keys", "inbox"],
      ...["organization_suppressions", "qualifications", "recipient_fields", "recipients", "stored_responses"],
      "suppressions",
    ])
    const digest = ["digest", "verify", "--date", new Date().toISOString().slice(0, 10)]
    await runJson(...digest)

    const planned = await runJson(...eraseOf(organization.id, "--dry-run"))
    expect(naming(await meanwhile(dump), token)).toHaveLength(13)
    const { counts, outcome, ...certificate } = await runJson(...eraseOf(organization.id, "--yes"))
    expect({ counts, outcome }).toEqual({ counts: planned.counts, outcome: "erased" })
    expect(counts).toEqual({
      ...{
        recipients: 1,
        recipient_fields: 1,
        messages: 0,
        message_attempts: 1,
        unsubscriptions: 1,
        suppressions: 2,
        qualifications: 2,
      },
      ...{
        complaints: 1,
        organization_suppressions: 1,
        events: 3,
        hits: 2,
        inbox: 4,
        stored_responses: 2,
        idempotency_keys: 1,
      },
      ...{ dead_letters: 1, delivered: 1, delivery_attempts: 2 },
    })
    expect(certificate).toMatchObject({ organization_id: organization.id, finished_at: expect.any(String) })
    expect(certificate.hashes).toContain(certificate.subject)

    const after = await meanwhile(dump)
    expect(naming(after, token)).toEqual([])
    expect(after["events"]).toContain(npi(1))
    expect(after["idempotency_keys"]).toContain(npi(1))
    expect(after["stored_responses"]).toContain(npi(1))
    expect(after["inbox"]).toContain(email(1))
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

  it("goes on suppressing whom it erased, by the partner's events and by imports", async () => {
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
        // As a process of the release before would, which knows of no erasures.
        yield* sql`
          insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
          values (${organization.id}, make_id('rcp'), ${draft!.id}, ${program.id}, 'oldone', ${person.npi}, 'ada@old.test',
            clock_timestamp(), clock_timestamp())`
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
    const add = ["suppressions", "add", "--program", program.id, "--npi", person.npi]
    expect(await runJson(...add)).toMatchObject({ added: 0 })

    await runJson(...eraseOf(organization.id, "--yes"))
    expect(naming(await meanwhile(dump), token)).toEqual([])
    await runJson("digest", "verify", "--date", new Date().toISOString().slice(0, 10))

    const refused = await run(load, { SECRETS_KEY: "" })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/SECRETS_KEY/) })
  })

  it("is finished by the same command after it was cut off, and says so", async () => {
    const { organization, token } = await meanwhile(seedPerson())
    const statement = (text: string) => meanwhile(SqlClient.SqlClient.use((sql) => sql.unsafe(text)))
    await statement("alter table hits add constraint cut_off check (address <> '') not valid")
    expect(await runFailing(...eraseOf(organization.id, "--yes"))).toMatchObject({ code: "database_failure" })
    expect(naming(await meanwhile(dump), token)).toContain("hits")
    await statement("alter table hits drop constraint cut_off")

    expect(await runJson(...eraseOf(organization.id, "--dry-run"))).toMatchObject({ is_unfinished: true })
    expect(await runFailing(...exportOf(organization.id))).toMatchObject({ code: "erasure_unfinished" })
    expect(await runJson(...eraseOf(organization.id, "--yes"))).toMatchObject({
      outcome: "resumed",
      counts: { recipients: 1, events: 3, hits: 2, inbox: 4, delivered: 1 },
    })
    expect(naming(await meanwhile(dump), token)).toEqual([])
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
        yield* sql`update dead_letters set attempts = jsonb_set(attempts, '{0,response}', to_jsonb(${quote}::text))
          where organization_id = ${organization.id}`
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
        organization_suppressions: 1,
        inbox: 5,
        stored_responses: 2,
        idempotency_keys: 1,
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
    expect(tables.idempotency_keys).toEqual([expect.objectContaining(named)])
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
    const { code, stdout } = await run([...exportOf(organization.id, "--out", path), "--json"], { SECRETS_KEY: "" })
    expect({ code, summary: JSON.parse(stdout) }).toEqual({
      code: 0,
      summary: { organization_id: organization.id, file: path, rows: 1 },
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
