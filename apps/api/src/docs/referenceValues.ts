import {
  EVENTS,
  type EventType,
  examples,
  type Operation,
  type OperationId,
  operations,
  SCOPES,
} from "@outreach/contract"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import type { ErrorCodes } from "@outreach/error-catalog"
import { html } from "@outreach/process/html"
import { Struct } from "effect"
import { code, type GuideValues, section, table } from "./renderGuide.ts"
import { fieldList, type JsonSchema, meaningOf, nameOf, schemaFields, typeOf } from "./schemaFields.ts"

const KEY = `-H "Authorization: Bearer $OUTREACH_KEY"`

const command = (...parts: ReadonlyArray<string>): string => parts.join(" \\\n  ")

const get = (path: string, ...parameters: ReadonlyArray<string>): string =>
  command(`curl -sSG "$OUTREACH_URL${path}"`, KEY, ...parameters.map((parameter) => `--data-urlencode "${parameter}"`))

const survey = (path: string): string =>
  command(
    `curl -sS "$OUTREACH_URL${path}"`,
    KEY,
    `-H "Content-Type: application/json"`,
    `--data '${JSON.stringify(examples.createSurvey.request)}'`,
  )

const PARTNER = "/v1/partners/consumer"
const SINCE = "since=2026-01-01T00:00:00Z"

/** A curl command for each operation, with the variables of the requests page. */
const curlExamples: Readonly<Record<OperationId, string>> = {
  getHealth: `curl -sS "$OUTREACH_URL/v1/health"`,
  getToken: get(`${PARTNER}/tokens/$OUTREACH_TOKEN`, "expand[]=campaign"),
  listTokens: get(`${PARTNER}/tokens`, SINCE, "limit=100"),
  listEvents: get(`${PARTNER}/events`, SINCE, "types[]=outreach.email_sent", "types[]=outreach.email_clicked"),
  listCampaignRecipients: get(`${PARTNER}/campaigns/$OUTREACH_CAMPAIGN/recipients`, "limit=100"),
  getDigest: get(`${PARTNER}/digest`, "date=$(date -u +%F)"),
  receiveWebhook: `time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
body='{"object":"event","livemode":false,"event_id":"evt_'$(openssl rand -hex 16)'","event_version":1,
"event_type":"clinician.account_created","occurred_at":"'$time'","emitted_at":"'$time'","source":"consumer",
"data":{"npi":"1234567893","email":"dana.reyes@clinic.test","consumer_program_slug":"heart-failure","attribution":"organic"}}'
t=$(date +%s)
v1=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$OUTREACH_SECRET" | sed 's/^.* //')
curl -sS "$OUTREACH_URL/v1/partners/consumer/webhooks/$OUTREACH_ENDPOINT" \\
  -H "Content-Type: application/json" \\
  -H "X-Signature: t=$t,v1=$v1" \\
  --data-binary "$body"`,
  createSurvey: survey("/v1/surveys"),
  validateSurvey: survey("/v1/surveys/validate"),
  presignUpload: get("/v1/uploads/presign", "filename=consent.pdf"),
}

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

${code(`Request: ${row.summary}`, curlExamples[id])}

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
  ...curlExamples,
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
