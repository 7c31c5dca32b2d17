import { updateCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { column, sql } from "@outreach/testing/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi, type TestApi } from "../startApi.ts"

const api = startApi()
type Seed = Awaited<ReturnType<TestApi["seed"]>>
let seed: Seed
let other: Seed
beforeAll(async () => {
  seed = await api().seed(5)
  other = await api().seed(3)
})

const TOKENS = "/v1/partners/consumer/tokens"

const tokensOf = (organizationId: OrganizationId) =>
  api().run(column<string>`select token from recipients where organization_id = ${organizationId} order by id`)

describe("the token lookup", () => {
  it("hides another organization's token as an unknown one", async () => {
    const [token] = await tokensOf(other.organization.id)
    const { key } = seed
    const answers = [await ask(api(), `${TOKENS}/${token}`, { key }), await ask(api(), `${TOKENS}/000000`, { key })]
    for (const { status, body } of answers) {
      expect([status, body.error.code, body.error.message]).toEqual([
        404,
        "TOKEN_NOT_FOUND",
        "There is no record for the token.",
      ])
    }
  })

  it("returns 304 for a current tag, with all headers except those of the body", async () => {
    const [token] = await tokensOf(seed.organization.id)
    const { key } = seed
    const first = await ask(api(), `${TOKENS}/${token}`, { key })
    const tag = first.headers.get("ETag")!
    expect(tag).toMatch(/^"[^"]+"$/)
    expect(first.headers.get("Cache-Control")).toBe("private, max-age=10, must-revalidate")
    for (const given of [tag, `"x", ${tag}`]) {
      const again = await ask(api(), `${TOKENS}/${token}`, { key, headers: { "If-None-Match": given } })
      expect([again.status, again.headers.get("ETag")]).toEqual([304, tag])
      expect(again.headers.get("Cache-Control")).toBe(first.headers.get("Cache-Control"))
      expect(again.headers.get("Content-Type")).toBeNull()
    }
    for (const given of ["", '"x"', "\u00ff"]) {
      expect((await ask(api(), `${TOKENS}/${token}`, { key, headers: { "If-None-Match": given } })).status).toBe(200)
    }
  })

  it("changes the tag only with the record, the expansion and the expanded resources", async () => {
    const [, token] = await tokensOf(seed.organization.id)
    const { key } = seed
    const queries = ["", "?expand[]=campaign", "?expand[]=program", "?expand[]=program&expand[]=campaign"]
    const tags = async () =>
      Promise.all(queries.map(async (q) => (await ask(api(), `${TOKENS}/${token}${q}`, { key })).headers.get("ETag")))
    const first = await tags()
    expect(new Set(first).size).toBe(4)
    const swapped = await ask(api(), `${TOKENS}/${token}?expand[]=campaign&expand[]=program`, { key })
    expect(swapped.headers.get("ETag")).toBe(first[3])

    await api().run(updateCampaign(seed.campaign.id, { name: "Renamed", perMinute: 5 }))
    const renamed = await ask(api(), `${TOKENS}/${token}${queries[1]}`, { key })
    expect(renamed.body.campaign).toMatchObject({ name: "Renamed" })
    const afterCampaign = await tags()
    expect(afterCampaign.map((tag, i) => tag === first[i])).toEqual([true, false, true, false])
    await api().run(sql`update programs set updated_at = clock_timestamp() where id = ${seed.program.id}`)
    const afterProgram = await tags()
    expect(afterProgram.map((tag, i) => tag === afterCampaign[i])).toEqual([true, true, false, false])
    await api().run(
      sql`update recipients set updated_at = updated_at + interval '1 microsecond' where token = ${token}`,
    )
    expect((await tags()).some((tag, i) => tag === afterProgram[i])).toBe(false)
  })
})
