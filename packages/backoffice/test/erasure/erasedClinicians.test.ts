import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { ErasureRepository } from "@outreach/domain/erasure/Erasure"
import { assertNoUnfinishedErasure, eraseClinician, planErasure } from "@outreach/domain/erasure/Erasures"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { KEY_RECIPIENTS } from "@outreach/testing/outreachOn"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { copyCampaign, email, npi } from "@outreach/testing/seedCampaign"
import { changeAttempts } from "@outreach/testing/seedDeadLetters"
import { dumpColumns, namingPerson, person, seedPerson } from "@outreach/testing/seedPerson"
import { sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect } from "effect"
import { afterAll, describe, expect } from "vitest"
import { PersonalDataReader } from "../../src/erasure/PersonalDataReader.ts"
import { importFile } from "../../src/recipients/importFile.ts"
import { TimelineReader } from "../../src/recipients/TimelineReader.ts"

const { test } = testsOnDatabase({ layer: NodeServices.layer })

const folder = temporaryFolder("erased", afterAll)

const clinician = { npi: person.npi, email: null }
const erase = (organization: OrganizationId, command: string | null = null) =>
  eraseClinician(organization, clinician, { operator: "Dana Reyes", command, release: "1.0.0" })
const exported = (organization: OrganizationId) => PersonalDataReader.use(({ read }) => read(organization, clinician))

/** Returns the tables that contain the person, in any form. */
const naming = (token: string) =>
  Effect.map(dumpColumns, (columns) => [...new Set(namingPerson(columns, token).map((column) => column.split(".")[0]))])

const counts = {
  ...{ recipients: 1, recipient_keys: 1, recipient_fields: 1, messages: 0, message_attempts: 1, unsubscriptions: 1 },
  ...{ suppressions: 3, qualifications: 2, complaints: 1, late_refusals: 1 },
  ...{ events: 3, hits: 2, inbox: 4, dead_letters: 1, delivered: 1, delivery_attempts: 2 },
}

describe("an erasure", () => {
  test("removes the NPI, address and token from all tables, and keeps all data of other clinicians", function* () {
    const { organization, campaign, token, recipientId } = yield* seedPerson()
    expect(yield* naming(token)).toEqual([
      ...["dead_letters", "delivered", "delivery_attempts", "events", "hits", "inbox"],
      ...["qualifications", "recipient_fields", "recipient_keys", "recipients", "stored_responses"],
      "suppressions",
    ])
    const plan = yield* planErasure(organization.id, clinician)
    expect(plan.counts).toEqual(counts)
    expect(yield* naming(token)).toHaveLength(12)
    const { outcome, certificate } = yield* erase(organization.id)
    expect({ outcome, counts: certificate.counts }).toEqual({ outcome: "erased", counts })
    expect(certificate).toMatchObject({ organizationId: organization.id, finishedAt: expect.any(String) })

    const columns = yield* dumpColumns
    expect(yield* naming(token)).toEqual([])
    expect(columns["events.body"]).toContain(npi(1))
    expect(columns["inbox.body"]).toContain(email(1))

    // The record is still in the feed, with placeholder values.
    const recipients = yield* RecipientRepository
    expect(yield* recipients.find(organization.id, token)).toBeUndefined()
    const records = yield* recipients.pageOfCampaign(organization.id, campaign.id, undefined, 10)
    expect(records).toHaveLength(3)
    expect(records.at(-1)).toMatchObject({
      ...{ id: recipientId, npi: expect.stringMatching(/^0\d{9}$/) },
      email: expect.stringMatching(/^\d{8}@erased\.invalid$/),
    })
    expect(yield* erase(organization.id)).toEqual({ outcome: "repeated", certificate })
  })

  test("keeps suppressing the clinician, in the partner's events, in publications and in imports", function* () {
    const seeded = yield* seedPerson()
    const { organization, program, token } = seeded
    yield* erase(organization.id)
    const timeline = yield* TimelineReader
    for (const key of [
      { by: "npi", value: person.npi },
      { by: "email", value: person.email.toUpperCase() },
    ] as const) {
      const found = yield* timeline.find({ ...key, organizationId: organization.id }, 10)
      expect(found).toEqual({
        recipients: [],
        entries: [],
        deliveries: [],
        hasMore: false,
        erasedIn: [organization.id],
      })
    }
    const data = { ...person, consumer_program_slug: program.slug, attribution: "organic", token: null }
    yield* receiveEvent(seeded, "evt_11", "clinician.account_created", { ...data, email: "ada@home.test" })
    yield* receiveEvent(seeded, "evt_12", "clinician.completer_qualified", data)
    yield* receiveEvent(seeded, "evt_13", "clinician.account_created", { ...data, npi: npi(7) })
    while (yield* applyBatches) {}
    const id = yield* copyCampaign(seeded.campaign.id)
    // Inserted without the checks of an import.
    yield* sql`
      insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
      values (${organization.id}, make_id('rcp'), ${id}, ${program.id}, 'oldone', ${person.npi}, 'ada@old.test',
        clock_timestamp(), clock_timestamp())`
    yield* sql.unsafe(KEY_RECIPIENTS)
    yield* sql`
      insert into campaign_count_changes (organization_id, campaign_id, recipients) values (${organization.id}, ${id}, 1)`
    yield* scheduleCampaign(id)
    while (yield* publishChunk()) {}
    const withdrawn = yield* sql`
      select withdrawal_reason as reason from recipients where campaign_id = ${id} and published_at is null`
    expect(withdrawn).toEqual([{ reason: "suppressed" }])
    yield* sql`update campaigns set status = 'draft' where id = ${id}`

    const path = join(folder, "again.csv")
    const lines = [`${npi(20)},${person.email}`, `${npi(21)},ADA@home.test`, `${npi(22)},new@clinic.test`]
    writeFileSync(path, ["npi,email", ...lines].join("\n"))
    expect(yield* importFile(id, path, { operator: "Dana" })).toMatchObject({ imported: 1, suppressed: 2 })
    expect(yield* suppressClinicians({ programId: program.id }, [clinician], "operator")).toMatchObject({ added: 0 })

    yield* erase(organization.id)
    expect(yield* naming(token)).toEqual([])
  })

  test("is completed by a second one if it was interrupted, and exports are blocked until then", function* () {
    const { organization, token } = yield* seedPerson()
    yield* sql`alter table hits add constraint cut_off check (address <> '') not valid`
    expect(yield* Effect.exit(erase(organization.id, "aud_1"))).toMatchObject({ _tag: "Failure" })
    expect(yield* naming(token)).toContain("hits")
    yield* sql`alter table hits drop constraint cut_off`
    expect((yield* planErasure(organization.id, clinician)).unfinished).toBeDefined()
    expect(yield* Effect.flip(assertNoUnfinishedErasure(organization.id, clinician))).toMatchObject({
      _tag: "ErasureUnfinished",
    })
    const { outcome, certificate } = yield* erase(organization.id, "aud_2")
    expect({ outcome, counts: certificate.counts }).toEqual({ outcome: "resumed", counts })
    expect(certificate).toMatchObject({ operator: "Dana Reyes", commands: ["aud_1", "aud_2"] })
    expect(yield* ErasureRepository.use(({ find }) => find(certificate.erasureId))).toEqual(certificate)
    expect(yield* naming(token)).toEqual([])
  })
})

test("an export contains all rows about the person, and no NPI, address or token of other clinicians", function* () {
  const seeded = yield* seedPerson()
  const { organization, campaign, token, recipientId } = seeded
  const others = yield* sql<{ id: string; token: string; npi: string; email: string }>`
    select id, token, npi, email from recipients where organization_id = ${organization.id} and id <> ${recipientId}`
  const other = others[0]!
  yield* sql`
    insert into messages (organization_id, recipient_id, campaign_id, due_at)
    values (${organization.id}, ${recipientId}, ${campaign.id}, clock_timestamp() + interval '1 day')`
  const list = [
    { ...person, name: "Ada" },
    { ...other, name: "Grace" },
  ]
  const seen = { list, by: { email: other.email }, note: other.token }
  yield* receiveEvent(seeded, "evt_06", "clinician.seen", seen)
  const quote = `${other.npi} and ${encodeURIComponent(other.email)} are not ${person.email}, see /l/${other.token}`
  yield* changeAttempts(organization.id, (attempts) => attempts.map((attempt) => ({ ...attempt, response: quote })))

  const data = yield* exported(organization.id)
  const text = JSON.stringify(data)
  for (const { id, token, npi, email } of others) {
    for (const each of [id, token, npi, email, encodeURIComponent(email)]) expect(text).not.toContain(each)
  }
  expect(text).not.toContain("Grace")
  const { organization_id, exported_at, clinician: named, ...tables } = JSON.parse(text)
  expect(named).toEqual({ npis: [person.npi], emails: [person.email] })
  const lengths = Object.entries<Array<unknown>>(tables).map(([name, rows]) => [name, rows.length])
  expect(Object.fromEntries(lengths)).toEqual({ ...counts, messages: 1, inbox: 5, deliveries: 1, delivered: 2 })
  expect(tables.recipients[0]).toMatchObject({ id: recipientId, token, ...person, campaign_id: campaign.id })
  const entries = tables.events.flatMap(
    ({ body }: { body: { data: { recipients?: Array<unknown> } } }) => body.data.recipients ?? [],
  )
  expect(entries).toEqual([expect.objectContaining({ service_recipient_id: recipientId, token, ...person })])
  const headers = { "user-agent": `Mail of ${person.email}` }
  expect(tables.hits).toContainEqual(
    expect.objectContaining({ link: `https://partner.test/l/${token}`, address: "198.51.100.7", headers }),
  )
  expect(tables.inbox[0].body.data).toMatchObject({ email: person.email.toUpperCase(), name: "Ada" })
  expect(tables.inbox.at(-1).body.data).toEqual({ list: [{ ...person, name: "Ada" }], note: "[withheld]" })
  expect(tables.dead_letters[0].attempts[0].response).toBe(
    `[withheld] and [withheld] are not ${person.email}, see /l/[withheld]`,
  )

  yield* erase(organization.id)
  expect(yield* exported(organization.id)).toEqual({
    organization_id: organization.id,
    exported_at: expect.any(String),
    clinician: { npis: [person.npi], emails: [] },
    ...Object.fromEntries(Object.keys(tables).map((name) => [name, []])),
  })
})
