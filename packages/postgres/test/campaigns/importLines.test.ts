import { describe, expect } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

const test = effectTest(runOnDatabase())

const line = (n: number) => ({ number: n + 2, npi: npi(n), email: `clinician${n}@clinic.test` })
const lines = (count: number) => Array.from({ length: count }, (_, i) => line(i))

/** Lets the first `draws` draws of a token all be `000000`. */
const withEqualTokens = (draws: number) => {
  let drawn = 0
  return Effect.updateService(SecureRandom.SecureRandom, (random) => ({
    ...random,
    randomBytes: (size: number) =>
      Effect.suspend(() => (drawn++ < draws ? Effect.succeed(new Uint8Array(size)) : random.randomBytes(size))),
  }))
}

describe("importLines", () => {
  test("imports nothing twice, however often and at once it runs", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const results = yield* Effect.all(
      [1, 2, 3].map(() => importLines(campaign.id, lines(200))),
      { concurrency: 3 },
    )
    expect(results.map((result) => result.imported).sort((a, b) => b - a)).toEqual([200, 0, 0])
    expect(yield* importLines(campaign.id, lines(200))).toEqual({
      imported: 0,
      alreadyThere: 200,
      suppressed: 0,
      bad: [],
    })
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).recipients).toBe(200)
  })

  test("reports bad lines by number with the reason, in their order, and imports the others", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const result = yield* importLines(campaign.id, [
      line(0),
      { ...line(1), npi: "1234567890" },
      { ...line(2), npi: npi(0) },
      { ...line(3), email: "nobody" },
      { ...line(4), email: line(0).email },
      line(0),
      line(5),
    ])
    expect(result).toEqual({
      imported: 2,
      alreadyThere: 1,
      suppressed: 0,
      bad: [
        { number: 3, reason: "the NPI's check digit is wrong" },
        { number: 4, reason: "the campaign has this NPI with another e-mail address" },
        { number: 5, reason: "the e-mail address is not valid" },
        { number: 6, reason: "the campaign has this e-mail address with another NPI" },
      ],
    })
  })

  test("draws again when a token is taken", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    expect(yield* importLines(campaign.id, lines(5)).pipe(withEqualTokens(8))).toEqual({
      imported: 5,
      alreadyThere: 0,
      suppressed: 0,
      bad: [],
    })
    const found = yield* (yield* RecipientRepository).find(organization.id, "000000")
    expect(found?.npi).toBe(npi(0))
  })

  test("gives up after ten draws, and keeps what it has", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const refusal = yield* Effect.flip(importLines(campaign.id, lines(2)).pipe(withEqualTokens(1000)))
    expect(refusal._tag).toBe("TokensUsedUp")
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).recipients).toBe(1)
  })
})
