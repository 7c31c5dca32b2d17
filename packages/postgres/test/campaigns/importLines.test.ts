import { describe, expect } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { checkLines, importLines } from "@outreach/domain/campaigns/RecipientImport"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import fc from "fast-check"

const { test } = testsOnDatabase()

const line = (n: number) => ({ number: n + 2, npi: npi(n), email: `clinician${n}@clinic.test` })
const lines = (count: number) => Array.from({ length: count }, (_, i) => line(i))

/** Makes the first `draws` random tokens all `000000`. */
const withEqualTokens = (draws: number) => {
  let drawn = 0
  return Effect.updateService(SecureRandom.SecureRandom, (random) => ({
    ...random,
    randomBytes: (size: number) =>
      Effect.suspend(() => (drawn++ < draws ? Effect.succeed(new Uint8Array(size)) : random.randomBytes(size))),
  }))
}

test("checkLines returns the result of an import with the reason of each invalid line, and adds no recipients", function* () {
  const { campaign } = yield* seedCampaign({ recipients: 0 })
  yield* importLines(campaign.id, lines(3))
  const given = [
    ...lines(6),
    { ...line(7), npi: npi(0) },
    { ...line(8), email: "nobody" },
    { ...line(9), npi: "1234567890" },
    { ...line(10), email: line(4).email },
    line(5),
  ]
  const checked = yield* checkLines(campaign.id, given)
  expect(checked).toEqual({
    ...{ imported: 3, updated: 0, alreadyThere: 4, suppressed: 0 },
    bad: [
      { number: 9, reason: "the campaign has this NPI with another e-mail address" },
      { number: 10, reason: "the e-mail address is not valid" },
      { number: 11, reason: "the NPI's check digit is wrong" },
      { number: 12, reason: "the campaign has this e-mail address with another NPI" },
    ],
  })
  expect((yield* (yield* CampaignRepository).progress(campaign.id)).recipients).toBe(3)
  expect(yield* importLines(campaign.id, given)).toEqual(checked)
})

describe("importLines", () => {
  test("imports each line once, even if it is repeated or concurrent", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const results = yield* Effect.all(
      [1, 2, 3].map(() => importLines(campaign.id, lines(40))),
      { concurrency: 3 },
    )
    expect(results.map((result) => result.imported).sort((a, b) => b - a)).toEqual([40, 0, 0])
    expect(yield* importLines(campaign.id, lines(40))).toEqual({
      imported: 0,
      updated: 0,
      alreadyThere: 40,
      suppressed: 0,
      bad: [],
    })
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).recipients).toBe(40)
  })

  test("draws a new token if one is taken", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    expect(yield* importLines(campaign.id, lines(5)).pipe(withEqualTokens(8))).toEqual({
      imported: 5,
      updated: 0,
      alreadyThere: 0,
      suppressed: 0,
      bad: [],
    })
    const found = yield* (yield* RecipientRepository).find(organization.id, "000000")
    expect(found?.npi).toBe(npi(0))
  })

  test("gives up after ten draws, and keeps the imported lines", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const refusal = yield* Effect.flip(importLines(campaign.id, lines(2)).pipe(withEqualTokens(1000)))
    expect(refusal._tag).toBe("TokensUsedUp")
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).recipients).toBe(1)
  })
})

describe("importLines, for lines with fields", () => {
  const fieldsOf = (campaignId: string) =>
    sql`
        select npi, fields from recipients join recipient_fields on recipient_fields.organization_id = recipients.organization_id and recipient_id = id
        where campaign_id = ${campaignId} order by npi`
  const named = (n: number, fields: Record<string, string>) => ({ ...line(n), fields })

  test("stores the fields of each line unchanged, with any content", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const text = fc.string({ unit: "grapheme", maxLength: 60 }).filter((value) => !/[\p{Cc}\uFFFD]/u.test(value))
    const fields = fc.sample(fc.record({ first_name: text, notes: text.map((value) => `${value}\r\n\t"`) }), 200)
    const result = yield* importLines(
      campaign.id,
      fields.map((each, i) => named(i, each)),
    )
    expect(result).toMatchObject({ imported: 200, bad: [] })
    expect(yield* fieldsOf(campaign.id)).toEqual(fields.map((each, i) => ({ npi: npi(i), fields: each })))
  })

  test("updates waiting recipients with the fields of their last line, and counts the new ones", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 3 })
    const ada = { first_name: "Ada" }
    expect(yield* importLines(campaign.id, [named(0, ada), named(1, ada), named(3, ada)])).toMatchObject({
      ...{ imported: 1, updated: 2, alreadyThere: 0 },
    })
    yield* sql`update recipients set sent_at = now() where organization_id = ${organization.id} and npi = ${npi(1)}`
    const again = [
      named(0, ada),
      named(1, { first_name: "Bo" }),
      named(2, {}),
      named(3, { first_name: "Cy" }),
      named(3, {}),
    ]
    expect(yield* importLines(campaign.id, again)).toMatchObject({ imported: 0, updated: 3, alreadyThere: 2 })
    expect(yield* importLines(campaign.id, lines(4))).toMatchObject({ updated: 0, alreadyThere: 4 })
    expect(yield* fieldsOf(campaign.id)).toEqual([
      { npi: npi(0), fields: ada },
      { npi: npi(1), fields: ada },
      { npi: npi(2), fields: {} },
      { npi: npi(3), fields: {} },
    ])
  })

  test("reports each line without a field that the templates use", function* () {
    const { campaign } = yield* seedCampaign({
      ...{ recipients: 0, subject: "For {{ first_name }}", fields: ["first_name", "specialty"] },
    })
    expect(campaign.fields).toEqual(["first_name", "specialty"])
    const result = yield* importLines(campaign.id, [
      named(0, { first_name: "Ada" }),
      named(1, { specialty: "oncology" }),
      line(2),
      named(3, { first_name: "x".repeat(3000) }),
    ])
    expect(result).toMatchObject({
      imported: 1,
      bad: [
        { number: 3, reason: "the subject needs first_name, which is missing" },
        { number: 4, reason: "the subject needs first_name, which is missing" },
        { number: 5, reason: "the fields take 3017 bytes, and 2048 is the most" },
      ],
    })
  })
})
