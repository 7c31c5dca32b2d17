import { EVENTS, type EventType, type Operation, operations } from "@outreach/contract"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { beforeAll, describe, expect, it } from "vitest"
import type { JsonSchema } from "../../src/docs/schemaFields.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
let text: string
beforeAll(async () => {
  text = await (await fetch(`${api().url}/docs/reference`)).text()
})
const sectionOf = (id: string) => text.split(`<h3 id="${id}">`)[1]!.split(/<h[23]/)[0]!

describe("the reference", () => {
  it("shows every operation with its parameters, statuses and error codes", () => {
    for (const { operationId, method, path, errors, responses } of Object.values<Operation>(operations)) {
      const section = sectionOf(operationId)
      expect(section).toContain(`<code>${method} ${path}</code>`)
      const { parameters = [] } = (openapi.paths as never as Paths)[path]![method.toLowerCase()]!
      for (const { name } of parameters) expect(section).toContain(`<code>${name}</code>`)
      for (const status of Object.keys(responses)) expect(section).toContain(`<th scope="row">${status}</th>`)
      for (const code of errors) expect(section).toMatch(new RegExp(`<a href="errors#(legacy-)?${code}">`))
    }
  })

  it("shows the data of every event", () => {
    for (const type of Object.keys(EVENTS) as ReadonlyArray<EventType>) {
      const name = openapi.webhooks[type].post.requestBody.content["application/json"].schema.$ref
      const section = sectionOf(name.split("/").at(-1)!)
      expect(section).toContain(`<code>${type}</code>`)
      const { data } = (openapi.components.schemas as never as Schemas)[name.split("/").at(-1)!]!.properties!
      for (const field of Object.keys(data!.properties!)) expect(section).toContain(`<code>${field}</code>`)
    }
  })

  it("shows every field of every object, those of the objects within it too", () => {
    const inEvents = Object.values(openapi.webhooks).map(
      ({ post }) => post.requestBody.content["application/json"].schema.$ref,
    )
    for (const [name, { properties = {} }] of Object.entries(openapi.components.schemas as never as Schemas)) {
      const section = sectionOf(name)
      if (inEvents.some(($ref) => $ref.endsWith(`/${name}`))) continue
      for (const field of Object.keys(properties)) expect(section).toContain(`<code>${field}</code>`)
    }
    expect(sectionOf("DigestRecord")).toContain("<code>quota.learner_qualified</code>")
    expect(sectionOf("Question")).toContain("<code>labels.start</code>")
    expect(sectionOf("EventList")).toContain("<code>next_cursor</code></dt><dd><small>string or null</small>")
  })
})

interface Paths {
  readonly [path: string]: {
    readonly [method: string]: { readonly parameters?: ReadonlyArray<{ readonly name: string }> }
  }
}

interface Schemas {
  readonly [name: string]: JsonSchema
}
