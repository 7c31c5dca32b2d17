import { openapi as describeErrors } from "@outreach/error-catalog/openapi"
import * as z from "zod"
// biome-ignore lint/correctness/noUndeclaredDependencies: runs when openapi.json is generated, never in a consumer.
import * as zodOpenapi from "zod-openapi"
import { legacyCatalog, partnerCatalog } from "./catalogs.ts"
import { LegacyError, PartnerError } from "./errors.ts"
import { EVENTS } from "./events.ts"
import { eventExamples, examples } from "./examples.ts"
import { requestHeaders, responseHeaders } from "./headers.ts"
import type { Operation } from "./Operation.ts"
import { type OperationId, operations } from "./operations.ts"

const requestId = "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8"

const security = {
  none: [],
  bearer: [{ bearer: [] }],
  scope: [{ bearer: [] }],
  signature: [{ webhookSignature: [] }],
}

type HeaderName = keyof typeof responseHeaders

function headersOf(operation: Operation, more: readonly HeaderName[]): z.ZodObject {
  const limited = operation.auth.kind === "bearer" || operation.auth.kind === "scope"
  const names: readonly HeaderName[] = [
    "X-Request-Id",
    ...(limited ? (["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const) : []),
    ...more,
  ]
  return z.object(Object.fromEntries(names.map((name) => [name, responseHeaders[name]])))
}

/** Returns the headers of an error response of an operation. */
function errorHeaders(codes: readonly string[], id: string): z.ZodObject {
  const more: HeaderName[] = []
  if (codes.includes("UNAUTHORIZED")) more.push("WWW-Authenticate")
  // `Retry-After` is sent only with 429. Other retryable codes have `details.retry_after`.
  if (codes.includes("RATE_LIMITED")) more.push("Retry-After")
  return headersOf(operations[id as OperationId], more)
}

const rows = Object.values<Operation>(operations)
const errorsOf = <Envelope extends Operation["envelope"]>(envelope: Envelope) =>
  Object.fromEntries(
    rows
      .filter((row) => row.envelope === envelope)
      .map((row) => [row.operationId, row.errors as Extract<Operation, { envelope: Envelope }>["errors"]]),
  )
const messagesOf = (codes: Readonly<Record<string, { readonly title: string }>>) => (code: string) =>
  `An example message: ${codes[code]!.title}.`
const partnerErrors = describeErrors(partnerCatalog, errorsOf("partner"), {
  schema: PartnerError,
  context: { requestId },
  message: messagesOf(partnerCatalog.codes),
  headers: errorHeaders,
})
const legacyErrors = describeErrors(legacyCatalog, errorsOf("legacy"), {
  schema: LegacyError,
  prefix: "LEGACY_",
  message: messagesOf(legacyCatalog.codes),
  headers: errorHeaders,
})
const errorResponses: Readonly<Record<string, object>> = { ...partnerErrors.responses, ...legacyErrors.responses }

function successesOf(operation: Operation, example: unknown): zodOpenapi.ZodOpenApiResponsesObject {
  const replayable = operation.headers.includes("Idempotency-Key")
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, { description, body, headers }]) => [
      status,
      {
        description,
        headers: headersOf(operation, [...headers, ...(replayable ? (["Idempotent-Replayed"] as const) : [])]),
        ...(body ? { content: { "application/json": { schema: body, example } } } : {}),
      },
    ]),
  ) as zodOpenapi.ZodOpenApiResponsesObject
}

function operationObject(
  operation: Operation,
  example: { readonly request?: unknown; readonly response: unknown },
): zodOpenapi.ZodOpenApiOperationObject {
  const { auth, body } = operation
  const scope = auth.kind === "scope" ? ` Needs the scope \`${auth.scope}\`.` : ""
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}${scope}`,
    security: security[auth.kind],
    ...(operation.draft ? { "x-draft": true } : {}),
    requestParams: {
      path: operation.pathParameters,
      query: operation.query,
      header: z.object(Object.fromEntries(operation.headers.map((name) => [name, requestHeaders[name].optional()]))),
    },
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: body.schema, example: example.request } },
          },
        }
      : {}),
    responses: {
      ...successesOf(operation, example.response),
      ...(errorResponses[operation.operationId] as zodOpenapi.ZodOpenApiResponsesObject),
    },
  }
}

function paths(): zodOpenapi.ZodOpenApiPathsObject {
  const byPath: Record<string, Record<string, zodOpenapi.ZodOpenApiOperationObject>> = {}
  for (const operation of Object.values(operations)) {
    byPath[operation.path] = {
      ...byPath[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation, examples[operation.operationId]),
    }
  }
  return byPath
}

function webhooks(): zodOpenapi.ZodOpenApiPathsObject {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, { direction, description, envelope }]) => [
      type,
      {
        post: {
          operationId: type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          tags: [direction === "to_consumer" ? "Events to the consumer" : "Events to the service"],
          summary: type,
          description,
          security: security.signature,
          requestBody: {
            required: true,
            content: { "application/json": { schema: envelope, example: eventExamples[type as keyof typeof EVENTS] } },
          },
          responses: {
            "200": { description: "Acknowledged; the body is ignored." },
            "4XX": { description: "Permanent failure; not retried." },
            "5XX": { description: "Transient failure; retried on the schedule." },
          },
        },
      },
    ]),
  )
}

const override: NonNullable<zodOpenapi.CreateDocumentOptions["override"]> = ({ jsonSchema, zodSchema }) => {
  // The format replaces zod's long pattern.
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  // Readers must accept new fields, so only strict zod objects are closed.
  const { def } = zodSchema._zod
  if (def.type === "object" && !("catchall" in def && def.catchall)) delete jsonSchema.additionalProperties
  // The limit of safe integers isn't part of the contract.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

/** The OpenAPI 3.1 document of the contract. */
export const openapi = zodOpenapi.createDocument(
  {
    openapi: "3.1.1",
    info: {
      title: "Outreach Partner API",
      version: "1",
      description:
        "E-mail outreach to clinicians on behalf of a partner platform: recipient records, outcomes, a daily digest, and signed webhooks in both directions. The version is in the path. Every authenticated request counts against 100 per minute and key.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      {
        url: "{base_url}",
        description: "Production",
        variables: {
          base_url: { default: "https://api.outreach.test", description: "Base of the production deployment." },
        },
      },
      {
        url: "{staging_base_url}",
        description: "Staging",
        variables: {
          staging_base_url: {
            default: "https://staging.outreach.test",
            description: "Base of the staging deployment.",
          },
        },
      },
    ],
    tags: [
      { name: "Health", description: "Whether the service is reachable." },
      { name: "Tokens", description: "Recipient records by token." },
      { name: "Events", description: "The reconciliation feed of outreach events." },
      { name: "Campaigns", description: "Recipient records by campaign." },
      { name: "Digest", description: "Funnel, throughput and quota of one day." },
      { name: "Webhooks", description: "The receiver of the partner's events." },
      { name: "Drafts", description: "Published, not served; may change without notice." },
      { name: "Events to the consumer", description: "Posted to the partner's webhook endpoints." },
      { name: "Events to the service", description: "Posted by the partner to `receiveWebhook`." },
    ],
    paths: paths(),
    webhooks: webhooks(),
    components: {
      examples: { ...partnerErrors.components.examples, ...legacyErrors.components.examples },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, in `Authorization: Bearer <API_KEY>`." },
        webhookSignature: {
          type: "apiKey",
          in: "header",
          name: "X-Signature",
          description:
            "`t=<unix-seconds>,v1=<hex>[,v1=<hex>...]`: each `v1` is the lowercase hex of HMAC-SHA256 over `<t>.<raw request body>`, keyed by one active secret. Rejected if `t` is more than 5 minutes from the verifier's clock.",
        },
      },
    },
  },
  { override },
)
