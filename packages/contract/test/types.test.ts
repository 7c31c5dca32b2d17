import { expect, it } from "vitest"
import { EVENTS, operations } from "../src/index.ts"
import { openapi } from "../src/openapi.ts"

const HEAD = "// Written by `pnpm --filter @outreach/contract types` from openapi.json: the contract without zod.\n"

/** The parts of JSON Schema that the contract's OpenAPI document uses. */
interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: unknown
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

const schemas = openapi.components!.schemas as Readonly<Record<string, JsonSchema>>
const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1)
const quoted = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name))
const comment = (text: string | undefined): string => (text === undefined ? "" : `/** ${text} */\n`)
const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ")
const without = (schema: JsonSchema, names: ReadonlyArray<string>): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties!).filter(([name]) => !names.includes(name))),
})

/** The interfaces of schemas that have another name in TypeScript, because what is submitted differs there from what is decoded. */
const RENAMED: Readonly<Record<string, string>> = {
  Question: "QuestionInput",
  SubQuestion: "SubQuestionInput",
  Case: "CaseInput",
}

function typeOf(schema: JsonSchema): string {
  const { $ref, type, items, properties, anyOf } = schema
  if ($ref !== undefined) {
    const name = nameOf($ref)
    return schemas[name]!.properties === undefined ? typeOf(schemas[name]!) : (RENAMED[name] ?? name)
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ")
  if (items !== undefined) return typeOf(items).includes(" | ") ? `(${typeOf(items)})[]` : `${typeOf(items)}[]`
  if (properties !== undefined) return membersOf(schema)
  if (type === "object") return "Record<string, unknown>"
  if (type === undefined) return "unknown"
  return [type].flat().join(" | ").replace("integer", "number")
}

/** Writes the members of an object; `types` gives those that depend on a type parameter. */
function membersOf(schema: JsonSchema, types: Readonly<Record<string, string>> = {}): string {
  const members = Object.entries(schema.properties!).map(([name, member]) => {
    const isOptional = !schema.required?.includes(name)
    const target = member.$ref === undefined ? undefined : schemas[nameOf(member.$ref)]!
    const description = member.description ?? (target?.properties === undefined ? target?.description : undefined)
    const type = types[name] ?? typeOf(member)
    return `${comment(description)}${quoted(name)}${isOptional ? "?" : ""}: ${type}${isOptional ? " | undefined" : ""}\n`
  })
  if (schema.additionalProperties) members.push("[key: string]: unknown\n")
  return members.length === 0 ? "{}" : `{\n${indented(members.join(""))}}`
}

const eventSchema = (type: keyof typeof EVENTS): JsonSchema => {
  const { post } = openapi.webhooks![type] as {
    post: { requestBody: { content: Record<string, { schema: JsonSchema }> } }
  }
  return schemas[nameOf(post.requestBody.content["application/json"]!.schema.$ref!)]!
}

const TYPES = Object.keys(EVENTS) as ReadonlyArray<keyof typeof EVENTS>
const OF_TYPE = ["event_type", "source", "data", "campaign", "program", "recipient"]

function eventTypes(direction: "to_consumer" | "to_service", sender: "Service" | "Consumer"): string {
  const types = TYPES.filter((type) => EVENTS[type].direction === direction)
  const party = sender.toLowerCase()
  const data = types.map(
    (type) =>
      `${comment(EVENTS[type].description)}${quoted(type)}: ${typeOf(eventSchema(type).properties!["data"]!)}\n`,
  )
  const example = eventSchema(types[0]!)
  const common = Object.keys(example.properties!).filter((name) => !OF_TYPE.includes(name))
  const own = membersOf(without(example, common), { event_type: "Type", data: `${sender}EventData[Type]` })
  return [
    `${comment(`The \`data\` of the events that the ${party} sends, by type. A newer version may add keys.`)}export interface ${sender}EventData {\n${indented(data.join(""))}}\n`,
    `${comment(`An event that the ${party} sends.`)}export interface ${sender}Event<Type extends keyof ${sender}EventData> extends EnvelopeMembers ${own}\n`,
  ].join("\n")
}

const isEvent = ({ properties }: JsonSchema): boolean => properties?.["event_type"]?.const !== undefined
const isList = ({ properties }: JsonSchema): boolean => properties?.["has_more"] !== undefined

it("types.d.ts contains the contract's types without zod", async () => {
  const resources = Object.entries(schemas)
    .filter(([, schema]) => schema.properties !== undefined && !isEvent(schema) && !isList(schema))
    .map(
      ([name, schema]) =>
        `${comment(schema.description)}export interface ${RENAMED[name] ?? name} ${membersOf(schema)}\n`,
    )
  const list = `${comment("One page of a list.")}export interface List<Item> ${membersOf(schemas["RecipientList"]!, { data: "Item[]" })}\n`
  const envelope = `${comment("The fields of every event: `occurred_at` is when the thing happened, `emitted_at` when the event was made.")}export interface EnvelopeMembers ${membersOf(without(eventSchema("clinician.account_created"), OF_TYPE))}\n`
  const queries = Object.values(operations).map(({ operationId, method, path }) => {
    const row = openapi.paths![path] as Record<string, { parameters?: ReadonlyArray<Parameter> }>
    const asked = (row[method.toLowerCase()]!.parameters ?? []).filter((parameter) => parameter.in === "query")
    const properties = asked.map(({ name, description, schema }) => [name, { description, ...schema } as JsonSchema])
    const required = asked.filter((parameter) => parameter.required).map(({ name }) => name)
    return `${operationId}: ${membersOf({ properties: Object.fromEntries(properties), required })}\n`
  })
  const asked = `${comment("The query parameters of each operation, by wire name.")}export interface Queries {\n${indented(queries.join(""))}}\n`
  await expect(
    [
      HEAD,
      ...resources,
      list,
      envelope,
      eventTypes("to_consumer", "Service"),
      eventTypes("to_service", "Consumer"),
      asked,
    ].join("\n"),
  ).toMatchFileSnapshot("../types.d.ts")
})
