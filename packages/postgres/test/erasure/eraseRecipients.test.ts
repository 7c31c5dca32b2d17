import { describe, expect } from "@effect/vitest"
import { publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { createMatcher, likePatterns } from "@outreach/domain/erasure/createMatcher"
import { placeholderOf } from "@outreach/domain/erasure/Erasure"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reasonNotValid } from "@outreach/domain/parseInput"
import { Npi } from "@outreach/domain/recipients/Npi"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { it } from "vitest"

const test = effectTest(runOnDatabase())

describe("eraseRecipients", () => {
  test("erases records and their events once, suppresses nobody and leaves suppressions and others as they are", function* () {
    const sql = yield* SqlClient.SqlClient
    const { organization, campaign, program } = yield* seedCampaign({ recipients: 3, opensIn: 3600 })
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    yield* (yield* SuppressionRepository).add(
      organization.id,
      [{ programId: program.id, npi: npi(0), email: null }],
      "unsubscribed",
    )
    const recipients = yield* sql<{ id: RecipientId; token: string }>`
      select id, token from recipients where organization_id = ${organization.id} and npi = any (${[npi(0), npi(1)]})`
    const ids = recipients.map(({ id }) => id)
    yield* sql`
      insert into recipient_fields (organization_id, recipient_id, fields)
      select organization_id, id, jsonb_build_object('npi', npi) from recipients where organization_id = ${organization.id}`
    expect(yield* eraseRecipients(organization.id, ids)).toBe(2)
    expect(yield* eraseRecipients(organization.id, ids)).toBe(0)

    expect(yield* sql`select fields from recipient_fields where organization_id = ${organization.id}`).toEqual([
      { fields: { npi: npi(2) } },
    ])
    const [kept] = yield* sql<Record<"recipients" | "events" | "messages" | "suppressions" | "hashes", string>>`
      select (select string_agg(npi || email || token, ' ') from recipients where organization_id = ${organization.id}) as recipients,
        (select string_agg(body, ' ') from events where organization_id = ${organization.id}) as events,
        (select count(*)::text from messages where organization_id = ${organization.id}) as messages,
        (select string_agg(value, ' ') from suppressions where organization_id = ${organization.id}) as suppressions,
        (select count(*)::text from erased_clinicians where organization_id = ${organization.id}) as hashes`
    for (const text of [kept!.recipients, kept!.events]) {
      for (const gone of [npi(0), npi(1), email(0), email(1), ...recipients.map(({ token }) => token)]) {
        expect(text).not.toContain(gone)
      }
      expect(text).toContain(npi(2))
    }
    expect(kept).toMatchObject({ messages: "1", suppressions: npi(0), hashes: "0" })
  })

  test("leaves out whose unsubscription is not applied yet", function* () {
    const sql = yield* SqlClient.SqlClient
    const { organization, campaign } = yield* seedCampaign({ recipients: 2 })
    const rows = yield* sql<{
      id: RecipientId
    }>`select id from recipients where campaign_id = ${campaign.id} order by id`
    const ids = rows.map(({ id }) => id)
    yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId: ids[0]! })
    expect(yield* eraseRecipients(organization.id, ids)).toBe(1)
    yield* applyUnsubscriptions
    expect(yield* eraseRecipients(organization.id, ids)).toBe(1)
    expect(yield* sql`select from organization_suppressions where organization_id = ${organization.id}`).toHaveLength(2)
  })
})

describe("a subject", () => {
  const subject = {
    npis: ["1234567893"],
    emails: ["ann+a@clinic.test"],
    recipients: [{ id: "rcp_0" as RecipientId, token: "aB3dE9" }],
  }
  const matches = createMatcher(subject)
  const isCandidate = (text: string) =>
    likePatterns(subject).some((pattern) =>
      text.toLowerCase().includes(pattern.slice(1, -1).replaceAll(/\\([\\%_])/g, "$1")),
    )

  it.each([
    '{"npi":"1234567893"}',
    "mail to ANN+A@Clinic.Test.",
    '"ann+a\\u0040clinic.test"',
    '"line\\nann+a@clinic.test"',
    "?to=ann%2Ba%40clinic.test",
    `/${Buffer.from("to ann+a@clinic.test").toString("base64url")}`,
    Buffer.from("..1234567893").toString("base64"),
    "https://go.test/aB3dE9",
  ])("is found in %j", (text) => {
    expect({ matches: matches(text), isCandidate: isCandidate(text) }).toEqual({ matches: true, isCandidate: true })
  })

  it.each([
    "91234567893",
    "joann+a@clinic.test",
    "ann+a@clinic.tests",
    "ann+a@clinic.test.example",
    "xaB3dE9",
    "ab3de9",
  ])("is not found in %j", (text) => {
    expect(matches(text)).toBe(false)
  })

  it("has placeholders that are no valid NPI, each another one", () => {
    const numbers = [0, 1, 9, 10, 99_999_999]
    const reason = reasonNotValid(Npi)
    expect(numbers.map((number) => reason(placeholderOf(number).npi))).toEqual(
      numbers.map(() => "the NPI's check digit is wrong"),
    )
    expect(new Set(numbers.map((number) => placeholderOf(number).email)).size).toBe(numbers.length)
  })
})
