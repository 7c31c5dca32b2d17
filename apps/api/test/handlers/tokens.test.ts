import { type RecipientRecord, SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { seedCampaign } from "@outreach/postgres/test/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
type Seed = Effect.Success<ReturnType<typeof seedCampaign>>
let seed: Seed
let other: Seed
beforeAll(async () => {
  seed = await api().run(seedCampaign({ recipients: 5 }))
  other = await api().run(seedCampaign({ recipients: 3 }))
})

const TOKENS = "/v1/partners/consumer/tokens"
const SINCE = "since=2026-01-01T00:00:00Z"

const sql = <Row extends object>(query: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<Row>, unknown>) =>
  api().run(Effect.flatMap(SqlClient.SqlClient, query))
const keyOf = async ({ organization }: Seed) => (await api().issue(organization.id, SCOPES)).text
const tokensOf = async (organizationId: OrganizationId) =>
  (
    await sql<{ token: string }>(
      (sql) => sql`select token from recipients where organization_id = ${organizationId} order by id`,
    )
  ).map(({ token }) => token)

describe("the token lookup", () => {
  it("answers the record", async () => {
    const [token] = await tokensOf(seed.organization.id)
    const { status, body, headers } = await ask(api(), `${TOKENS}/${token}`, { key: await keyOf(seed) })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: "recipient_record",
      livemode: false,
      token,
      email: "clinician0@clinic.test",
      service_campaign_id: seed.campaign.id,
      service_program_id: seed.program.id,
      sent_at: null,
      bounced_at: null,
      last_event_at: null,
    })
    expect(body).not.toHaveProperty("campaign")
    expect(body).not.toHaveProperty("program")
    expect(headers.get("Cache-Control")).toBe("private, max-age=10, must-revalidate")
    expect(headers.get("ETag")).toMatch(/^"[\w-]+"$/)
    const rows = await sql<{ micros: string }>(
      (sql) =>
        sql`select to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as micros from recipients where token = ${token}`,
    )
    expect(body.updated_at).toBe(rows[0]!.micros)
  })

  it("expands what it is asked to, written plainly or encoded", async () => {
    const [token] = await tokensOf(seed.organization.id)
    const key = await keyOf(seed)
    const campaign = {
      object: "campaign",
      id: seed.campaign.id,
      name: "Spring",
      program_id: seed.program.id,
      status: "draft",
    }
    const program = { object: "program", id: seed.program.id, slug: "heart-failure", status: "active" }
    for (const query of [
      "expand[]=campaign&expand[]=program",
      "expand%5B%5D=program&expand%5b%5d=campaign&expand[]=campaign",
    ]) {
      const { body } = await ask(api(), `${TOKENS}/${token}?${query}`, { key })
      expect(body).toMatchObject({ campaign, program })
    }
    const { body } = await ask(api(), `${TOKENS}/${token}?expand[]=program`, { key })
    expect(body).toMatchObject({ program })
    expect(body).not.toHaveProperty("campaign")
  })

  it("hides another organization's token as an unknown one", async () => {
    const [token] = await tokensOf(other.organization.id)
    const key = await keyOf(seed)
    const answers = [await ask(api(), `${TOKENS}/${token}`, { key }), await ask(api(), `${TOKENS}/000000`, { key })]
    for (const { status, body } of answers) {
      expect([status, body.error.code, body.error.message]).toEqual([
        404,
        "TOKEN_NOT_FOUND",
        "There is no record for the token.",
      ])
    }
  })

  it("answers 304 to a tag that still stands, with every header but the body's", async () => {
    const [token] = await tokensOf(seed.organization.id)
    const key = await keyOf(seed)
    const first = await ask(api(), `${TOKENS}/${token}`, { key })
    const tag = first.headers.get("ETag")!
    for (const given of [tag, `W/${tag}`, `"x", ${tag}`, tag.replace(/"$/, '-gzip"'), "*"]) {
      const again = await ask(api(), `${TOKENS}/${token}`, { key, headers: { "If-None-Match": given } })
      expect([again.status, again.headers.get("ETag")]).toEqual([304, tag])
      expect(again.headers.get("Cache-Control")).toBe(first.headers.get("Cache-Control"))
      expect(again.headers.get("Content-Type")).toBeNull()
    }
    for (const given of ["", "junk", '"x"', tag.slice(1, -1), "\u00ff"]) {
      expect((await ask(api(), `${TOKENS}/${token}`, { key, headers: { "If-None-Match": given } })).status).toBe(200)
    }
  })

  it("changes the tag with the record, the expansion, and what is expanded alone", async () => {
    const [, token] = await tokensOf(seed.organization.id)
    const key = await keyOf(seed)
    const queries = ["", "?expand[]=campaign", "?expand[]=program", "?expand[]=program&expand[]=campaign"]
    const tags = async () =>
      Promise.all(queries.map(async (q) => (await ask(api(), `${TOKENS}/${token}${q}`, { key })).headers.get("ETag")))
    const first = await tags()
    expect(new Set(first).size).toBe(4)
    const swapped = await ask(api(), `${TOKENS}/${token}?expand[]=campaign&expand[]=program`, { key })
    expect(swapped.headers.get("ETag")).toBe(first[3])

    await sql((sql) => sql`update campaigns set updated_at = clock_timestamp() where id = ${seed.campaign.id}`)
    const afterCampaign = await tags()
    expect(afterCampaign.map((tag, i) => tag === first[i])).toEqual([true, false, true, false])
    await sql((sql) => sql`update programs set updated_at = clock_timestamp() where id = ${seed.program.id}`)
    const afterProgram = await tags()
    expect(afterProgram.map((tag, i) => tag === afterCampaign[i])).toEqual([true, true, false, false])
    await sql(
      (sql) => sql`update recipients set updated_at = updated_at + interval '1 microsecond' where token = ${token}`,
    )
    expect((await tags()).some((tag, i) => tag === afterProgram[i])).toBe(false)
  })
})

describe("the token list", () => {
  const pages = async (first: string, key: string): Promise<ReadonlyArray<Answer>> => {
    const answers = [await ask(api(), first, { key })]
    while (answers.at(-1)!.body.next_cursor !== null) {
      const cursor = encodeURIComponent(answers.at(-1)!.body.next_cursor)
      answers.push(await ask(api(), `${first}&cursor=${cursor}`, { key }))
    }
    return answers
  }

  it("pages through rows of one and the same microsecond without losing or repeating one", async () => {
    const third = await api().run(seedCampaign({ recipients: 5 }))
    const stamps = await sql<{ stamps: number }>(
      (sql) => sql`
        select count(distinct updated_at)::int as stamps from recipients
        where organization_id = ${third.organization.id}`,
    )
    expect(stamps).toEqual([{ stamps: 1 }])
    const answers = await pages(`${TOKENS}?${SINCE}&limit=2`, await keyOf(third))
    expect(answers.map(({ body }) => [body.data.length, body.has_more])).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ])
    const seen = answers.flatMap(({ body }) => body.data.map((record: RecipientRecord) => record.token))
    expect(seen).toEqual(await tokensOf(third.organization.id))
  })

  it("says that a page which ends exactly at the last row is the last", async () => {
    const { body } = await ask(api(), `${TOKENS}?${SINCE}&limit=3`, { key: await keyOf(other) })
    expect([body.data.length, body.has_more, body.next_cursor]).toEqual([3, false, null])
  })

  it("takes since as inclusive, to the microsecond, in any offset", async () => {
    const key = await keyOf(other)
    const { body } = await ask(api(), `${TOKENS}?${SINCE}`, { key })
    const at: string = body.data[0].updated_at
    const micros = Number(at.slice(20, 26))
    const next = micros === 999_999 ? undefined : `${at.slice(0, 20)}${String(micros + 1).padStart(6, "0")}Z`
    const east = `${new Date(Date.parse(at) + 7_200_000).toISOString().slice(0, 19)}.${at.slice(20, 26)}%2B02:00`
    expect((await ask(api(), `${TOKENS}?since=${at}`, { key })).body.data).toHaveLength(3)
    expect((await ask(api(), `${TOKENS}?since=${east}`, { key })).body.data).toHaveLength(3)
    if (next) expect((await ask(api(), `${TOKENS}?since=${next}`, { key })).body.data).toHaveLength(0)
  })

  it("echoes path and query as they were sent", async () => {
    const target = `${TOKENS}?limit=1&${SINCE}&expand%5B%5D=campaign&expand[]=program`
    const { body } = await ask(api(), target, { key: await keyOf(other) })
    expect(body.url).toBe(target)
    expect(body.data[0]).toMatchObject({ campaign: { id: other.campaign.id }, program: { id: other.program.id } })
  })

  it("shows an organization its own recipients alone", async () => {
    const { body } = await ask(api(), `${TOKENS}?${SINCE}`, { key: await keyOf(other) })
    expect(body.data.map((record: RecipientRecord) => record.token)).toEqual(await tokensOf(other.organization.id))
  })

  it("lets limit and expansion change mid-way, and since be written another way", async () => {
    const key = await keyOf(seed)
    const { body } = await ask(api(), `${TOKENS}?${SINCE}&limit=1`, { key })
    const since = "since=2026-01-01T02:00:00.000%2B02:00"
    const next = await ask(api(), `${TOKENS}?${since}&limit=2&expand[]=program&cursor=${body.next_cursor}`, { key })
    expect(next.body.data).toHaveLength(2)
    expect(next.body.data[0].program.id).toBe(seed.program.id)
  })

  it("refuses a cursor that was altered, or is another organization's or another since's", async () => {
    const key = await keyOf(seed)
    const { body } = await ask(api(), `${TOKENS}?${SINCE}&limit=1`, { key })
    const cursor: string = body.next_cursor
    const flipped = cursor.slice(0, 60) + (cursor[60] === "A" ? "B" : "A") + cursor.slice(61)
    const requests: ReadonlyArray<[string, string]> = [
      [`${SINCE}&cursor=${flipped}`, key],
      [`${SINCE}&cursor=${cursor.slice(0, -2)}`, key],
      [`${SINCE}&cursor=${cursor}AAAA`, key],
      [`${SINCE}&cursor=${cursor}%00`, key],
      [`since=2026-01-02T00:00:00Z&cursor=${cursor}`, key],
      [`${SINCE}&cursor=${cursor}`, await keyOf(other)],
    ]
    for (const [query, asker] of requests) {
      const { status, body } = await ask(api(), `${TOKENS}?${query}`, { key: asker })
      expect([status, body.error.code, body.error.details]).toEqual([400, "INVALID_PARAMETER", { parameter: "cursor" }])
      expect(body.error.message).not.toContain(cursor.slice(0, 20))
    }
    expect((await ask(api(), `${TOKENS}?cursor=${cursor}`, { key })).body.error).toMatchObject({
      code: "MISSING_PARAMETER",
      details: { parameter: "since" },
    })
  })
})

describe("the health check", () => {
  it("answers without a bearer, a rate limit or the database", async () => {
    const { status, body, headers } = await ask(api(), "/v1/health")
    expect([status, body.status, headers.get("X-RateLimit-Limit")]).toEqual([200, "ok", null])
    expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(60_000)
  })
})
