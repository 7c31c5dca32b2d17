import { SCOPES } from "@outreach/contract"
import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
type Seed = Effect.Success<ReturnType<typeof seedCampaign>>
let seed: Seed
let other: Seed
let key: string
beforeAll(async () => {
  seed = await api().run(seedCampaign({ recipients: 3 }))
  other = await api().run(seedCampaign({ recipients: 1 }))
  key = (await api().issue(seed.organization.id, SCOPES)).text
})

const pathOf = (campaignId: string) => `/v1/partners/consumer/campaigns/${campaignId}/recipients`
const idsOf = async (campaignId: string, asker = key) =>
  (await ask(api(), pathOf(campaignId), { key: asker })).body.data.map(
    (row: { service_recipient_id: string }) => row.service_recipient_id,
  )

it("lists the records as the token list shows them", async () => {
  const { body } = await ask(api(), `${pathOf(seed.campaign.id)}?expand[]=campaign`, { key })
  const tokens = await ask(api(), "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z&expand[]=campaign", { key })
  expect(body.data).toHaveLength(3)
  const ofCampaign = tokens.body.data.filter(
    ({ campaign }: { campaign: { id: string } }) => campaign.id === seed.campaign.id,
  )
  expect(body.data).toEqual(ofCampaign)
})

it("lists no recipients of another campaign of the organization", async () => {
  const { windowStart, windowEnd, subject, html } = seed.campaign
  const second = await api().run(
    Effect.gen(function* () {
      const { id } = yield* createCampaign({
        ...{ programId: seed.program.id, name: "Autumn", kind: "traffic", subject, html, windowStart, windowEnd },
      })
      yield* importLines(id, [{ number: 2, npi: npi(1), email: "someone@clinic.test" }])
      return id
    }),
  )
  expect(await idsOf(second)).toHaveLength(1)
  expect(await idsOf(seed.campaign.id)).toHaveLength(3)
})

it("returns an empty list for an unknown campaign and for another organization's", async () => {
  for (const id of [other.campaign.id, "cmp_0199"]) {
    const { status, body } = await ask(api(), pathOf(id), { key })
    expect([status, body]).toEqual([
      200,
      { object: "list", livemode: false, data: [], has_more: false, next_cursor: null, url: pathOf(id) },
    ])
  }
})

it("rejects the cursor of another campaign", async () => {
  const { body } = await ask(api(), `${pathOf(seed.campaign.id)}?limit=1`, { key })
  const refused = await ask(api(), `${pathOf("cmp_0199")}?cursor=${body.next_cursor}`, { key })
  expect([refused.status, refused.body.error.details]).toEqual([400, { parameter: "cursor" }])
})
