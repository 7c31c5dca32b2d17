import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { npi } from "@outreach/testing/seedCampaign"
import { column, sql } from "@outreach/testing/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { startApi, type TestApi } from "../startApi.ts"
import { publishOutcomes } from "./publishOutcomes.ts"

const api = startApi()

const SINCE = "since=2026-01-01T00:00:00Z"

type Seed = Awaited<ReturnType<TestApi["seed"]>>
const seedRows = async (rows: number): Promise<Seed> => {
  const seed = await api().seed(rows)
  await api().run(publishOutcomes(seed.campaign, Array<"outreach.email_sent">(rows).fill("outreach.email_sent")))
  return seed
}

const idsIn = (table: "recipients" | "events") => (organizationId: OrganizationId) =>
  api().run(column<string>`select id from ${sql(table)} where organization_id = ${organizationId} order by id`)

/** Each list: path, required parameters, and the shown ids compared with the existing ones. */
const LISTS = [
  {
    list: "the token list",
    path: (_seed: Seed) => "/v1/partners/consumer/tokens",
    required: SINCE,
    idOf: (row: { service_recipient_id: string }) => row.service_recipient_id,
    idsOf: idsIn("recipients"),
  },
  {
    list: "the events list",
    path: (_seed: Seed) => "/v1/partners/consumer/events",
    required: SINCE,
    idOf: (row: { event_id: string }) => row.event_id,
    idsOf: idsIn("events"),
  },
  {
    list: "the recipients of a campaign",
    path: ({ campaign }: Seed) => `/v1/partners/consumer/campaigns/${campaign.id}/recipients`,
    required: "",
    idOf: (row: { service_recipient_id: string }) => row.service_recipient_id,
    idsOf: idsIn("recipients"),
  },
] as const

let seed: Seed
let other: Seed
let key: string
beforeAll(async () => {
  seed = await seedRows(5)
  other = await seedRows(3)
  key = seed.key
})

describe.each(LISTS)("$list", ({ path, required, idOf, idsOf }) => {
  const target = (query: string, of: Seed = seed) => `${path(of)}?${[required, query].filter(Boolean).join("&")}`
  const ids = ({ body }: Answer): ReadonlyArray<string> => body.data.map(idOf)
  const there = ({ organization }: Seed) => idsOf(organization.id)
  const refusal = async (query: string) => {
    const { status, body } = await ask(api(), target(query), { key })
    return [status, body.error?.code, body.error?.details?.parameter]
  }

  it("pages through rows of one and the same microsecond without losing or repeating one", async () => {
    const answers = [await ask(api(), target("limit=2"), { key })]
    while (answers.at(-1)!.body.next_cursor !== null) {
      answers.push(await ask(api(), target(`limit=2&cursor=${answers.at(-1)!.body.next_cursor}`), { key }))
    }
    expect(answers.map(({ body }) => [body.data.length, body.has_more])).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ])
    expect(answers.flatMap(ids)).toEqual(await there(seed))
  })

  it("returns no cursor with a page that ends exactly at the last row", async () => {
    const { body } = await ask(api(), target("limit=5"), { key })
    expect([body.data.length, body.has_more, body.next_cursor]).toEqual([5, false, null])
  })

  it("shows an organization only its own rows", async () => {
    expect(ids(await ask(api(), target("", other), { key: other.key }))).toEqual(await there(other))
  })

  it("lets limit and expansion change mid-way", async () => {
    const { body } = await ask(api(), target("limit=1"), { key })
    const next = await ask(api(), target(`limit=2&expand[]=program&cursor=${body.next_cursor}`), { key })
    expect(ids(next)).toEqual((await there(seed)).slice(1, 3))
    expect(next.body.data[0].program).toMatchObject({ id: seed.program.id, slug: "heart-failure" })
    expect(next.body.data[0]).not.toHaveProperty("campaign")
  })

  it("rejects a cursor that was changed or belongs to another organization", async () => {
    const cursor: string = (await ask(api(), target("limit=1"), { key })).body.next_cursor
    const changed = `${cursor.slice(0, 9)}${cursor[9] === "A" ? "B" : "A"}${cursor.slice(10)}`
    for (const query of [changed, "", `${cursor}&cursor=${cursor}`]) {
      expect(await refusal(`cursor=${query}`)).toEqual([400, "INVALID_PARAMETER", "cursor"])
    }
    const { status, body } = await ask(api(), target(`cursor=${cursor}`), { key: other.key })
    expect([status, body.error.details]).toEqual([400, { parameter: "cursor" }])
    expect(body.error.message).not.toContain(cursor.slice(0, 20))
  })

  it("rejects the cursor of another list", async () => {
    const lists = LISTS.filter((list) => list.path !== path)
    for (const list of lists) {
      const query = [list.required, "limit=1"].filter(Boolean).join("&")
      const { body } = await ask(api(), `${list.path(seed)}?${query}`, { key })
      expect(await refusal(`cursor=${body.next_cursor}`)).toEqual([400, "INVALID_PARAMETER", "cursor"])
    }
  })
})

describe.each(LISTS.filter(({ required }) => required !== ""))("since, in $list", ({ path }) => {
  const target = (query: string) => `${path(seed)}?${query}`

  it("may be written another way with its cursor, but not be another", async () => {
    const { body } = await ask(api(), target(`${SINCE}&limit=1`), { key })
    const same = await ask(api(), target(`since=2026-01-01T02:00:00.000%2B02:00&cursor=${body.next_cursor}`), { key })
    expect([same.status, same.body.data.length]).toEqual([200, 4])
    const another = await ask(api(), target(`since=2026-01-02T00:00:00Z&cursor=${body.next_cursor}`), { key })
    expect([another.status, another.body.error.details]).toEqual([400, { parameter: "cursor" }])
    const none = await ask(api(), target(`cursor=${body.next_cursor}`), { key })
    expect(none.body.error).toMatchObject({ code: "MISSING_PARAMETER", details: { parameter: "since" } })
  })
})

describe("the recipients of a campaign", () => {
  const pathOf = (campaignId: string) => `/v1/partners/consumer/campaigns/${campaignId}/recipients`
  const get = async (target: string, { key } = seed) => await ask(api(), target, { key })

  it("are listed as the token list shows them, without those of another campaign", async () => {
    const own = await api().seed(5)
    const { windowStart, windowEnd, subject, html } = own.campaign
    await api().run(function* () {
      const second = yield* createCampaign({
        ...{ programId: own.program.id, name: "Autumn", kind: "traffic", subject, html, windowStart, windowEnd },
      })
      yield* importLines(second.id, [{ number: 2, npi: npi(1), email: "someone@clinic.test" }])
    })
    const { body } = await get(`${pathOf(own.campaign.id)}?expand[]=campaign`, own)
    const tokens = await get(`/v1/partners/consumer/tokens?${SINCE}&expand[]=campaign`, own)
    expect([body.data.length, tokens.body.data.length]).toEqual([5, 6])
    const isOfCampaign = ({ campaign }: { campaign: { id: string } }) => campaign.id === own.campaign.id
    expect(body.data).toEqual(tokens.body.data.filter(isOfCampaign))
  })

  it("are an empty list for an unknown campaign and for another organization's", async () => {
    for (const id of [other.campaign.id, "cmp_0199"]) {
      const { status, body } = await get(pathOf(id))
      const empty = { object: "list", livemode: false, data: [], has_more: false, next_cursor: null, url: pathOf(id) }
      expect([status, body]).toEqual([200, empty])
    }
  })

  it("have no page for the cursor of another campaign", async () => {
    const { body } = await get(`${pathOf(seed.campaign.id)}?limit=1`)
    const refused = await get(`${pathOf("cmp_0199")}?cursor=${body.next_cursor}`)
    expect([refused.status, refused.body.error.details]).toEqual([400, { parameter: "cursor" }])
  })
})
