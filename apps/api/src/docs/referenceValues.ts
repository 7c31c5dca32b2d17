import { EVENTS, type EventType, type Operation, type OperationId, operations } from "@outreach/contract"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import type { ErrorCodes } from "@outreach/error-catalog"
import { type Html, html, join, type Part, prose } from "@outreach/process/html"
import { code, keysOf, section, table } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"
import { curlExamples } from "./requestValues.ts"
import { fieldList, type JsonSchema, meaningOf, nameOf, schemaFields, typeOf } from "./schemaFields.ts"

const schemas = openapi.components.schemas as unknown as Readonly<Record<string, JsonSchema>>
const headers: Readonly<Record<string, { readonly description: string }>> = openapi.components.headers
const paths = openapi.paths as unknown as Readonly<Record<string, Readonly<Record<string, OperationObject>>>>

const eventSchema = (type: EventType): string =>
  nameOf(openapi.webhooks[type].post.requestBody.content["application/json"].schema)
const inEvents: ReadonlySet<string> = new Set(keysOf(EVENTS).map(eventSchema))
const isObject = (name: string): boolean => schemas[name]!.properties !== undefined
const objects = keysOf(schemas).filter((name) => isObject(name) && !inEvents.has(name))
const values = keysOf(schemas).filter((name) => !isObject(name))

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

const operation = (id: OperationId): Html => {
  const row: Operation = operations[id]
  const { parameters = [], requestBody, responses } = paths[row.path]![row.method.toLowerCase()]!
  return section(
    id,
    row.summary,
    html`<p><code>${row.method} ${row.path}</code></p>
<p>${prose(row.description)} ${AUTHENTICATION[row.auth.kind]}${row.auth.kind === "scope" ? html` with the scope <code>${row.auth.scope}</code>.` : ""}</p>
${parameters.length === 0 ? "" : html`<h4>Parameters</h4>\n${parameterList(parameters)}`}
<h4>Request</h4>
${requestBody === undefined ? "" : html`<p>The body is ${bodyOf(requestBody)} as JSON, at most ${row.body!.maxBytes / 1024} KiB.</p>`}
${code(`Request: ${row.summary}`, curlExamples[id])}
<h4>Responses</h4>
${table(
  `Responses: ${row.summary}`,
  ["status", "response"],
  [
    ...Object.keys(row.responses).map((status) => [status, successOf(responses[status]!)]),
    ...errorsOf(row).map(({ status, links }) => [`${status}`, links]),
  ],
)}
${exampleOf(row.summary, Object.values(responses)[0]!)}`,
  )
}

const AUTHENTICATION = {
  none: "It needs no key.",
  bearer: "It needs a key.",
  scope: "It needs a key",
  signature: html`It needs no key, but <a href="webhooks#verify">a signature</a>.`,
} as const

const parameterList = (parameters: ReadonlyArray<Parameter>): Html =>
  fieldList(
    parameters.map(({ in: place, name, required, description = "", schema }) => ({
      name,
      kind: html`${place}, ${typeOf(schema)}${required ? "" : ", optional"}`,
      meaning: meaningOf({ description, ...schema }),
    })),
  )

const bodyOf = ({ content }: Media): Part =>
  content === undefined ? "No body." : typeOf(content["application/json"].schema)

const successOf = (response: OperationObject["responses"][string]): Part =>
  html`${prose(response.description)} ${bodyOf(response)}`

const errorsOf = ({
  envelope,
  errors,
}: Operation): ReadonlyArray<{ readonly status: number; readonly links: Part }> => {
  const isPartner = envelope === "partner"
  const { codes }: { readonly codes: ErrorCodes } = isPartner ? partnerCatalog : legacyCatalog
  const statusOf = (name: string): number => codes[name]!.status
  const link = (name: string): Part => html`<a href="errors#${isPartner ? "" : "legacy-"}${name}">${name}</a>`
  return [...new Set(errors.map(statusOf))]
    .sort()
    .map((status) => ({ status, links: join(errors.filter((name) => statusOf(name) === status).map(link)) }))
}

const exampleOf = (summary: string, { content }: Media): Part => {
  const example = content?.["application/json"].example
  if (example === undefined) return ""
  return html`<details><summary>Example of a response</summary>
${code(`Example: ${summary}`, JSON.stringify(example, null, 2))}
</details>`
}

const event = (type: EventType): Html => {
  const name = eventSchema(type)
  return section(
    name,
    html`<code>${type}</code>`,
    html`<p>${prose(EVENTS[type].description)} <a href="webhooks#${type}" aria-label="Example of ${type}">Example</a></p>
${schemaFields(schemas[name]!.properties!["data"]!)}`,
  )
}

const objectSection = (name: string): Html =>
  section(
    name,
    html`<code>${name}</code>`,
    html`<p>${prose(schemas[name]!.description ?? "")}</p>
${schemaFields(schemas[name]!)}`,
  )

const valueSection = (name: string): Html =>
  section(
    name,
    html`<code>${name}</code>`,
    html`<p><small>${typeOf(schemas[name]!)}</small><br>
${meaningOf(schemas[name]!)}${schemas[name]!.example === undefined ? "" : html` For example <code>${schemas[name]!.example}</code>.`}</p>`,
  )

/** Values of the reference: operations, events and schemas of the OpenAPI document. */
export const referenceValues: GuideValues = {
  endpoints: html`<ul class="index endpoints">
${keysOf(operations).map((id) => {
  const { summary, method, path }: Operation = operations[id]
  return html`<li><a href="#${id}">${summary}</a><br><code>${method} ${path}</code></li>\n`
})}</ul>`,
  operations: keysOf(operations).map(operation),
  events: keysOf(EVENTS).map(event),
  objects: objects.map(objectSection),
  values: values.map(valueSection),
  responseHeaders: table(
    "Response headers",
    ["header", "meaning"],
    keysOf(headers).map((name) => [html`<code>${name}</code>`, prose(headers[name]!.description ?? "")]),
  ),
}
