import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import type { EventId } from "@outreach/domain/Identifier"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { sql, whileOpen } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { settableTime } from "../settableTime.ts"
import { DOCS_URL, startApi, type TestApi } from "../startApi.ts"
import { publishOutcomes } from "./publishOutcomes.ts"

const api = startApi()
let seed: Awaited<ReturnType<TestApi["seed"]>>
let key: string
/** Ids of two events of each type, in feed order: each round has one stamp. */
let rounds: ReadonlyArray<ReadonlyArray<EventId>>
beforeAll(async () => {
  seed = await api().seed(2)
  key = seed.key
  const round = () => publishOutcomes(seed.campaign, FEED_EVENT_TYPES)
  rounds = [await api().run(round()), await api().run(round())]
})

const EVENTS = "/v1/partners/consumer/events?since=2026-01-01T00:00:00Z"
const list = async (query = "") => (await ask(api(), `${EVENTS}${query}`, { key })).body
const idsOf = ({ data }: { data: ReadonlyArray<{ event_id: EventId }> }) => data.map(({ event_id }) => event_id)
const typesOf = ({ data }: { data: ReadonlyArray<{ event_type: FeedEventType }> }) =>
  data.map(({ event_type }) => event_type)

it("serves each envelope as it was written when the event was published", async () => {
  const rows = await api().run(
    sql<{
      body: string
    }>`select body from events where organization_id = ${seed.organization.id} order by emitted_at, id`,
  )
  const { data } = await list()
  expect(data).toEqual(rows.map(({ body }) => JSON.parse(body)))
  for (const name of ["campaign", "program", "recipient"]) expect(data[0]).not.toHaveProperty(name)
})

it("orders by the time of emission and then by id, whenever the thing happened", async () => {
  expect(idsOf(await list())).toEqual(rounds.flat())
  await api().run(sql`update events set occurred_at = '2020-01-01T00:00:00Z' where id = ${rounds[1]![3]!}`)
  expect(idsOf(await list())).toEqual(rounds.flat())
})

it("returns has_more and a cursor while a transaction keeps its timestamp for over a second", async () => {
  const later = { since: "2999-01-01T00:00:00Z", limit: "1" }
  const read = async (cursor: object = {}) =>
    (await ask(api(), `/v1/partners/consumer/events?${new URLSearchParams({ ...later, ...cursor })}`, { key })).body
  const during = await api().run(
    whileOpen(commitTimestamp(seed.organization.id), () =>
      Effect.promise(async () => {
        const [full, unsettled] = [await list("&limit=1"), await read()]
        return { full, unsettled }
      }),
    ),
  )
  expect(during.full.data).toHaveLength(1)
  expect(during.unsettled).toMatchObject({ data: [], has_more: true, next_cursor: expect.any(String) })
  const after = await read({ cursor: during.unsettled.next_cursor })
  expect(after).toMatchObject({ data: [], has_more: false, next_cursor: null })
})

it("dates a page before it was read, so that the date can be the next since", async () => {
  const time = settableTime()
  const { url, stop } = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL }, time.layer)
  onTestFinished(stop)
  time.now = Date.parse("2026-01-01T00:00:00Z")
  const reading = await api().whileLocked("events", async () => {
    const reading = ask({ url }, EVENTS, { key })
    await api().untilBlocked("events")
    time.now += 3_600_000
    return [reading]
  })
  expect((await reading[0]!).headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:00 GMT")
})

describe("a filter by type", () => {
  it.each([
    ["&type=outreach.email_sent", ["outreach.email_sent"]],
    [
      "&types%5B%5D=outreach.email_bounced&types[]=outreach.email_sent",
      ["outreach.email_sent", "outreach.email_bounced"],
    ],
    ["&type=outreach.email_opened&types[]=outreach.email_clicked", ["outreach.email_opened", "outreach.email_clicked"]],
    ["&type=outreach.email_opened&types[]=outreach.email_opened", ["outreach.email_opened"]],
  ])("is the union of type and types[], as in %s", async (query, types) => {
    const body = await list(query)
    expect(body.data).toHaveLength(2 * types.length)
    expect(new Set(typesOf(body))).toEqual(new Set(types))
    expect(idsOf(body)).toEqual(rounds.flat().filter((id) => idsOf(body).includes(id)))
  })

  it("belongs to the cursor, however it is written", async () => {
    const { next_cursor } = await list("&types[]=outreach.email_sent&type=outreach.email_clicked&limit=1")
    const filter = "&types[]=outreach.email_clicked&types[]=outreach.email_sent&types[]=outreach.email_sent"
    const again = await ask(api(), `${EVENTS}${filter}&cursor=${next_cursor}`, { key })
    expect([again.status, again.body.data.length]).toEqual([200, 3])
    for (const other of ["", "&type=outreach.email_sent", `${filter}&types[]=outreach.email_opened`]) {
      const { status, body } = await ask(api(), `${EVENTS}${other}&cursor=${next_cursor}`, { key })
      expect([status, body.error.code, body.error.details]).toEqual([400, "INVALID_PARAMETER", { parameter: "cursor" }])
    }
  })

  it("that names all four types is none", async () => {
    const all = FEED_EVENT_TYPES.map((type) => `&types[]=${type}`).join("")
    const { next_cursor } = await list(`${all}&limit=1`)
    expect(idsOf(await list(`&cursor=${next_cursor}`))).toEqual(rounds.flat().slice(1))
  })
})

it("contains neither publications nor events of surveys", async () => {
  const { campaign, key } = await api().seed(1)
  await api().run(function* () {
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    yield* publishOutcomes(campaign, ["outreach.email_sent"])
  })
  await api().run(sql`update campaigns set kind = 'survey' where id = ${campaign.id}`)
  await api().run(publishOutcomes(campaign, ["outreach.email_clicked"]))
  const { body } = await ask(api(), EVENTS, { key })
  expect(typesOf(body)).toEqual(["outreach.email_sent"])
})

describe("an expansion", () => {
  it("adds the campaign, the program and the recipient as they are now", async () => {
    const { key, ...seeded } = await api().seed(1)
    const read = async () =>
      (await ask(api(), "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z", { key })).body.data[0]
    const { service_recipient_id } = await read()
    await api().run(publishOutcomes(seeded.campaign, ["outreach.email_sent"], service_recipient_id))
    const names = ["campaign", "program", "recipient"]
    const query = names.map((name) => `&expand[]=${name}`).join("")
    const { body } = await ask(api(), `${EVENTS}${query}`, { key })
    const campaign = { object: "campaign", livemode: false, id: seeded.campaign.id, name: "Spring", status: "draft" }
    expect(body.data[0]).toMatchObject({
      campaign: { ...campaign, program_id: seeded.program.id },
      program: { object: "program", id: seeded.program.id, slug: "heart-failure", status: "active" },
    })
    const recipient = await read()
    expect(recipient.sent_at).toBe(recipient.updated_at)
    expect(body.data[0].recipient).toEqual(recipient)
    for (const name of names) {
      const [only] = (await ask(api(), `${EVENTS}&expand[]=${name}`, { key })).body.data
      expect(names.filter((key) => key in only)).toEqual([name])
    }
  })

  it("is null if the resource no longer exists", async () => {
    const { data } = await list("&expand[]=recipient&limit=1")
    expect(data[0].recipient).toBeNull()
  })
})
