import { beforeAll, describe, expect, it } from "vitest"
import * as z from "zod"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"
import { type Resources, seedResources } from "./seedResources.ts"

const api = startApi()
type Body = Readonly<Record<string, unknown>>

/** A row of a field table, copied from the specification. */
interface Field {
  readonly field: string
  /** Default true. */
  readonly required?: boolean
  readonly is: z.ZodType
}

/** Found resources by location. */
let places: Record<string, ReadonlyArray<Body>> = {}
const found = (place: string, ...bodies: ReadonlyArray<unknown>) => {
  places = { ...places, [place]: [...(places[place] ?? []), ...(bodies as ReadonlyArray<Body>)] }
}
const TOKENS = "/v1/partners/consumer/tokens"
let resources: Resources
const get = async (target: string) => {
  const { status, body } = await ask(api(), target, { key: resources.key })
  expect(status, target).toBe(200)
  return body
}

beforeAll(async () => {
  places = {}
  resources = await seedResources(api())
  const { tokens, lists } = resources
  const expanded = "expand[]=campaign&expand[]=program"
  for (const token of tokens) {
    found("record of the token lookup", await get(`${TOKENS}/${token}`))
    const record = await get(`${TOKENS}/${token}?${expanded}`)
    found("record of the token lookup", record)
    found("campaign of the token lookup", record.campaign)
    found("program of the token lookup", record.program)
  }
  for (const [name, path] of Object.entries(lists)) {
    const events = name === "events"
    found(`${name} list`, await get(path), await get(`${path}&limit=1`))
    const { data } = await get(`${path}&${expanded}${events ? "&expand[]=recipient" : ""}`)
    found(events ? "event of the events list" : `record of the ${name} list`, ...(await get(path)).data, ...data)
    found(`campaign of the ${name} list`, ...data.map(({ campaign }: Body) => campaign))
    found(`program of the ${name} list`, ...data.map(({ program }: Body) => program))
    if (events) found("record of the events list", ...data.map(({ recipient }: Body) => recipient))
  }
  found("health check", await get("/v1/health"))
})

const text = z.string().min(1)
const time = z.iso.datetime()
const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9a-f]+$`))
const summary = (object: "campaign" | "program") => z.looseObject({ object: z.literal(object) })
const four = ["outreach.email_sent", "outreach.email_bounced", "outreach.email_opened", "outreach.email_clicked"]

describe.each<{ resource: string; places: ReadonlyArray<string>; fields: ReadonlyArray<Field> }>([
  {
    resource: "recipient record",
    places: ["token lookup", "tokens list", "recipients list", "events list"].map((place) => `record of the ${place}`),
    fields: [
      { field: "object", is: z.literal("recipient_record") },
      { field: "livemode", is: z.boolean() },
      { field: "token", is: z.string().regex(/^[0-9A-Za-z]{6}$/) },
      { field: "npi", is: z.string().regex(/^\d{10}$/) },
      { field: "email", is: z.email() },
      { field: "service_recipient_id", is: id("rcp") },
      { field: "service_campaign_id", is: id("cmp") },
      { field: "service_program_id", is: id("pgm") },
      { field: "created_at", is: time },
      { field: "updated_at", required: false, is: time.nullable() },
      { field: "sent_at", required: false, is: time.nullable() },
      { field: "bounced_at", required: false, is: time.nullable() },
      { field: "last_event_at", required: false, is: time.nullable() },
      { field: "campaign", required: false, is: summary("campaign").nullable() },
      { field: "program", required: false, is: summary("program").nullable() },
    ],
  },
  {
    resource: "campaign summary",
    places: ["token lookup", "tokens list", "recipients list", "events list"].map(
      (place) => `campaign of the ${place}`,
    ),
    fields: [
      { field: "object", is: z.literal("campaign") },
      { field: "livemode", is: z.boolean() },
      { field: "id", is: id("cmp") },
      { field: "name", is: text },
      { field: "program_id", is: id("pgm") },
      { field: "status", is: text },
    ],
  },
  {
    resource: "program summary",
    places: ["token lookup", "tokens list", "recipients list", "events list"].map((place) => `program of the ${place}`),
    fields: [
      { field: "object", is: z.literal("program") },
      { field: "livemode", is: z.boolean() },
      { field: "id", is: id("pgm") },
      { field: "slug", is: z.literal("heart-failure") },
      { field: "name", is: text },
      { field: "status", is: text },
    ],
  },
  {
    resource: "event envelope",
    places: ["event of the events list"],
    fields: [
      { field: "object", is: z.literal("event") },
      { field: "livemode", is: z.boolean() },
      { field: "event_id", is: id("evt") },
      { field: "event_type", is: z.enum(four) },
      { field: "event_version", is: z.int().min(1) },
      { field: "occurred_at", is: time },
      { field: "emitted_at", is: time },
      { field: "source", is: z.enum(["service", "consumer"]) },
      { field: "data", is: z.looseObject({ token: text }) },
      { field: "metadata", required: false, is: z.looseObject({}).nullable() },
      { field: "campaign", required: false, is: summary("campaign").nullable() },
      { field: "program", required: false, is: summary("program").nullable() },
      {
        field: "recipient",
        required: false,
        is: z.looseObject({ object: z.literal("recipient_record") }).nullable(),
      },
    ],
  },
  {
    resource: "list envelope",
    places: ["tokens list", "recipients list", "events list"],
    fields: [
      { field: "object", is: z.literal("list") },
      { field: "livemode", is: z.boolean() },
      { field: "data", is: z.array(z.looseObject({ object: z.enum(["recipient_record", "event"]) })).min(1) },
      { field: "has_more", is: z.boolean() },
      { field: "next_cursor", is: text.nullable() },
      { field: "url", is: z.string().startsWith("/v1/partners/consumer/") },
    ],
  },
  {
    resource: "health response",
    places: ["health check"],
    fields: [
      { field: "status", is: z.literal("ok") },
      { field: "version", is: text },
      { field: "timestamp", is: time },
    ],
  },
])("the $resource", ({ places: where, fields }) => {
  it.each(fields)("has $field as specified in its table", ({ field, required = true, is }) => {
    for (const place of where) {
      expect(places[place]!.length).toBeGreaterThan(0)
      for (const body of places[place]!) {
        if (required) expect(body).toHaveProperty(field)
        if (field in body) expect(is.safeParse(body[field]).error, `${field} of ${place}`).toBeUndefined()
      }
    }
  })

  it("has no field beyond its table", () => {
    const known = fields.map(({ field }) => field)
    for (const body of where.flatMap((place) => places[place]!)) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(body)))
    }
  })
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
