import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { type RunningApi, runApi } from "../runApi.ts"
import { DOCS_URL, startApi } from "../startApi.ts"
import { type Resources, seedResources } from "./seedResources.ts"

const BASE = "https://api.outreach.test"
const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })

type Body = Readonly<Record<string, unknown>>
const isBody = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the resources in a body: itself, the rows of a list, and their expansions. An event's `data` isn't a resource. */
const resourcesIn = (body: Body): ReadonlyArray<Body> => [
  body,
  ...(Array.isArray(body["data"]) ? body["data"] : []).flatMap(resourcesIn),
  ...["campaign", "program", "recipient"].flatMap((name) => {
    const child = body[name]
    return isBody(child) ? resourcesIn(child) : []
  }),
]

describe.each([
  { deployment: "production", live: true },
  { deployment: "staging", live: false },
])("on the $deployment deployment", ({ deployment, live }) => {
  let deployed: RunningApi
  let resources: Resources
  beforeAll(async () => {
    deployed = await runApi(api().databaseUrl, { DEPLOYMENT: deployment, PUBLIC_BASE_URL: BASE, DOCS_URL })
    resources = await seedResources(api(), live)
    return () => deployed.stop()
  })
  const get = async (target: string) => {
    const { status, body } = await ask(deployed, target, { key: resources.key })
    expect(status).toBe(200)
    return body
  }

  it(`every returned resource carries an object discriminator, and a livemode that is ${live}`, async () => {
    const { tokens, lists } = resources
    const expansion = "expand[]=campaign&expand[]=program"
    const bodies = await Promise.all([
      get(`/v1/partners/consumer/tokens/${tokens[0]}?${expansion}`),
      get(`${lists.tokens}&${expansion}`),
      get(`${lists.recipients}&${expansion}`),
      get(`${lists.events}&${expansion}&expand[]=recipient`),
    ])
    const found = bodies.flatMap(resourcesIn)
    expect(new Set(found.map(({ livemode }) => livemode))).toEqual(new Set([live]))
    expect(new Set(found.map(({ object }) => object))).toEqual(
      new Set(["recipient_record", "campaign", "program", "list", "event"]),
    )
  })
})
