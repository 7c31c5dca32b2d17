import { EVENTS, type EventType, type Operation, type OperationId, operations, SCOPES } from "@outreach/contract"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import type { ErrorCodes } from "@outreach/error-catalog"
import { html } from "@outreach/process/html"
import { Struct } from "effect"
import { code, type GuideValues, section, table } from "./renderGuide.ts"
import { requestSamples } from "./requestSamples.ts"
import { fieldList, type JsonSchema, meaningOf, nameOf, schemaFields, typeOf } from "./schemaFields.ts"

const schemas = openapi.components.schemas as unknown as Readonly<Record<string, JsonSchema>>
const headers: Readonly<Record<string, { readonly description: string }>> = openapi.components.headers
const paths = openapi.paths as unknown as Readonly<Record<string, Readonly<Record<string, OperationObject>>>>

const eventSchema = (type: EventType): string =>
  nameOf(openapi.webhooks[type].post.requestBody.content["application/json"].schema)
const inEvents: ReadonlySet<string> = new Set(Struct.keys(EVENTS).map(eventSchema))
const isObject = (name: string): boolean => schemas[name]!.properties !== undefined
const objects = Struct.keys(schemas).filter((name) => isObject(name) && !inEvents.has(name))
const values = Struct.keys(schemas).filter((name) => !isObject(name))

interface Parameter {
  readonly in: "path" | "query" | "header"
  readonly name: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

interface Media {
  readonly content?: { readonly "application/json": { readonly schema: JsonSchema; readonly example?: unknown } }
}

interface OperationObject {
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: Media
  readonly responses: Readonly<Record<string, Media & { readonly description: string }>>
}

const operation = (id: OperationId): string => {
  const row: Operation = operations[id]
  const { parameters = [], requestBody, responses } = paths[row.path]![row.method.toLowerCase()]!
  const size = requestBody && `The body is ${bodyOf(requestBody)} as JSON, at most ${row.body!.maxBytes / 1024} KiB.`
  return section(
    id,
    row.summary,
    `\`${row.method} ${row.path}\`

${row.description} ${AUTHENTICATION[row.auth.kind]}${row.auth.kind === "scope" ? ` with the scope \`${row.auth.scope}\`.` : ""}

${parameters.length === 0 ? "" : `#### Parameters\n\n${parameterList(parameters)}`}

#### Request

${size ?? ""}

${requestSamples[id]!}

#### Responses

${table(
  ["status", "response"],
  ...Object.keys(row.responses).map((status) => [status, successOf(responses[status]!)]),
  ...errorsOf(row),
)}

${exampleOf(row.summary, Object.values(responses)[0]!)}`,
  )
}

const AUTHENTICATION = {
  none: "It needs no key.",
  bearer: "It needs a key.",
  scope: "It needs a key",
  signature: "It needs no key, but [a signature](webhooks#verify).",
} as const

const parameterList = (parameters: ReadonlyArray<Parameter>): string =>
  fieldList(
    parameters.map(({ in: place, name, required, description = "", schema }) => ({
      name,
      kind: html`${place}, ${typeOf(schema)}${required ? "" : ", optional"}`,
      meaning: meaningOf({ description, ...schema }),
    })),
  )

const bodyOf = ({ content }: Media): string =>
  content === undefined ? "No body." : html`${typeOf(content["application/json"].schema)}`.markup

const successOf = (response: OperationObject["responses"][string]): string =>
  `${response.description} ${bodyOf(response)}`

const errorsOf = ({ envelope, errors }: Operation): ReadonlyArray<readonly [status: string, links: string]> => {
  const isPartner = envelope === "partner"
  const { codes }: { readonly codes: ErrorCodes } = isPartner ? partnerCatalog : legacyCatalog
  const statusOf = (name: string): string => `${codes[name]!.status}`
  const link = (name: string): string => `[${name}](errors#${isPartner ? "" : "legacy-"}${name})`
  return [...new Set(errors.map(statusOf))].sort().map((status) => [
    status,
    errors
      .filter((name) => statusOf(name) === status)
      .map(link)
      .join(", "),
  ])
}

const exampleOf = (summary: string, { content }: Media): string => {
  const example = content?.["application/json"].example
  if (example === undefined) return ""
  return `<details><summary>Example of a response</summary>

${code(`Example: ${summary}`, JSON.stringify(example, null, 2))}

</details>`
}

const event = (type: EventType): string => {
  const name = eventSchema(type)
  const data = schemas[name]!.properties!["data"]!
  const example = `[Example of \`${type}\`](webhooks#${type})`
  return section(name, `\`${type}\``, `${EVENTS[type].description} ${example}\n\n${schemaFields(data)}`)
}

const objectSection = (name: string): string =>
  section(name, `\`${name}\``, `${schemas[name]!.description ?? ""}\n\n${schemaFields(schemas[name]!)}`)

const valueSection = (name: string): string =>
  section(
    name,
    `\`${name}\``,
    html`<p><small>${typeOf(schemas[name]!)}</small><br>
${meaningOf(schemas[name]!)}${schemas[name]!.example === undefined ? "" : html` For example <code>${schemas[name]!.example}</code>.`}</p>`
      .markup,
  )

const sections = <Key extends string>(keys: ReadonlyArray<Key>, sectionOf: (key: Key) => string): string =>
  keys.map(sectionOf).join("")

/** Values from the contract: operations, scopes, events and schemas of the OpenAPI document. */
export const referenceValues: GuideValues = {
  ...requestSamples,
  scopes: table(
    ["scope", "what it opens"],
    ...SCOPES.map((scope) => {
      const opened = Struct.keys(operations).filter((id) => {
        const { auth }: Operation = operations[id]
        return auth.kind === "scope" && auth.scope === scope
      })
      const links = opened.map((id) => `[${operations[id].summary.toLowerCase()}](docs/reference#${id})`)
      return [`\`${scope}\``, links.join(", ")]
    }),
  ),
  endpoints: Struct.keys(operations)
    .map((id) => {
      const { summary, method, path }: Operation = operations[id]
      return `- [${summary}](#${id})<br>\`${method} ${path}\``
    })
    .join("\n"),
  operations: sections(Struct.keys(operations), operation),
  events: sections(Struct.keys(EVENTS), event),
  objects: sections(objects, objectSection),
  values: sections(values, valueSection),
  responseHeaders: table(
    ["header", "meaning"],
    ...Struct.keys(headers).map((name) => [`\`${name}\``, headers[name]!.description]),
  ),
}
