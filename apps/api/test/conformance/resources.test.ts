import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"
import { type Resources, seedResources } from "./seedResources.ts"

const api = startApi(undefined, { DEPLOYMENT: "production", PUBLIC_BASE_URL: "https://api.outreach.test" })
type Body = Readonly<Record<string, unknown>>

const TOKENS = "/v1/partners/consumer/tokens"
let resources: Resources
beforeAll(async () => {
  resources = await seedResources(api(), true)
})
const get = async (target: string) => {
  const { status, body } = await ask(api(), target, { key: resources.key })
  expect(status, target).toBe(200)
  return body
}

/** Returns the resources in a body: itself, the rows of a list, and their expansions. An event's `data` isn't a resource. */
const resourcesIn = (body: Body): ReadonlyArray<Body> => [
  body,
  ...(Array.isArray(body["data"]) ? body["data"] : []).flatMap(resourcesIn),
  ...["campaign", "program", "recipient"].flatMap((name) => (body[name] ? resourcesIn(body[name] as Body) : [])),
]

it("every resource of the production deployment carries an object discriminator, and a livemode that is true", async () => {
  const { tokens, lists } = resources
  const expansion = "expand[]=campaign&expand[]=program"
  const events = `${lists.events}&${expansion}&expand[]=recipient`
  const targets = [
    `${TOKENS}/${tokens[0]}?${expansion}`,
    `${lists.tokens}&${expansion}`,
    `${lists.recipients}&${expansion}`,
  ]
  const found = (await Promise.all([...targets, events].map(get))).flatMap(resourcesIn)
  expect(new Set(found.map(({ livemode }) => livemode))).toEqual(new Set([true]))
  expect(new Set(found.map(({ object }) => object))).toEqual(
    new Set(["recipient_record", "campaign", "program", "list", "event"]),
  )
})

describe("a nullable timestamp", () => {
  it.each(["sent_at", "bounced_at", "last_event_at"])("%s is null until it happens, and then a time", async (field) => {
    const [touched, untouched] = await Promise.all(resources.tokens.map((token) => get(`${TOKENS}/${token}`)))
    expect([typeof touched[field], untouched[field]]).toEqual(["string", null])
  })
})

describe("campaign and program", () => {
  it("are present only when expand[] contains them, wherever a record appears", async () => {
    const names = ["campaign", "program"]
    const { lists, tokens } = resources
    for (const chosen of [[], ["campaign"], ["program"], names]) {
      const query = chosen.map((name) => `&expand[]=${name}`).join("")
      const records = [
        await get(`${TOKENS}/${tokens[0]}?${query.slice(1)}`),
        ...(await get(lists.tokens + query)).data,
        ...(await get(lists.recipients + query)).data,
        ...(await get(lists.events + query)).data,
      ]
      for (const record of records) expect(names.filter((name) => name in record)).toEqual(chosen)
    }
  })

  it("are those that the record names", async () => {
    const records = await get(`${resources.lists.tokens}&expand[]=campaign&expand[]=program`)
    for (const { campaign, program, service_campaign_id, service_program_id } of records.data) {
      expect([campaign.id, campaign.program_id, program.id]).toEqual([
        service_campaign_id,
        service_program_id,
        service_program_id,
      ])
    }
  })
})

it.each(["tokens", "recipients", "events"] as const)(
  "a list of %s has no further page exactly when next_cursor is null, and echoes its path and query",
  async (name) => {
    const path = resources.lists[name]
    const cursor: string = (await get(`${path}&limit=1`)).next_cursor
    for (const [target, more] of [
      // Some releases of Node don't send a trailing question mark.
      [path.replace(/\?$/, ""), false],
      [`${path}&limit=1`, true],
      [`${path}&cursor=${cursor}`, false],
    ] as const) {
      const { has_more, next_cursor, url, data } = await get(target)
      expect([has_more, typeof next_cursor, url]).toEqual([more, more ? "string" : "object", target])
      const object = name === "events" ? "event" : "recipient_record"
      expect(new Set(data.map((row: Body) => row["object"]))).toEqual(new Set([object]))
    }
  },
)

it("every body is JSON, of a resource and of an error", async () => {
  const { tokens, lists, key } = resources
  for (const target of [
    `${TOKENS}/${tokens[0]}`,
    ...Object.values(lists),
    "/v1/health",
    "/v1/nowhere",
    `${TOKENS}/!`,
  ]) {
    const { headers } = await ask(api(), target, { key })
    expect(headers.get("Content-Type"), target).toBe("application/json")
  }
})
