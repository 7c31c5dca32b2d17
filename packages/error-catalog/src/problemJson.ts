import type { Envelope } from "./Envelope.ts"
import type { JsonSchema } from "./StandardSchema.ts"

/** Body fields next to the error. */
export interface ProblemContext {
  /** URI reference of this occurrence, such as the request path (RFC 9457, 3.1.5). */
  readonly instance?: string | undefined
  /** Request id, written as `request_id`. */
  readonly requestId?: string | undefined
}

const MEMBERS = ["type", "title", "status", "detail", "instance", "code", "request_id", "retry_after", "details"]

/**
 * `application/problem+json` (RFC 9457). `type` is the code's `docUrl`; `code`, `request_id`, `retry_after` and the details are extension members.
 *
 * Details with one of these names are nested in a `details` member. `detail` is omitted if it equals `title`.
 */
export const problemJson: Envelope<ProblemContext> = {
  contentType: "application/problem+json",
  write: ({ code, status, title, message, details, docUrl, retryAfter }, { instance, requestId }) => {
    const entries = Array.isArray(details) ? [] : Object.entries(details ?? {})
    const nested = entries.filter(([name]) => MEMBERS.includes(name))
    return {
      type: docUrl,
      title,
      status,
      ...(message !== title && { detail: message }),
      ...(instance !== undefined && { instance }),
      code,
      ...(requestId !== undefined && { request_id: requestId }),
      ...(retryAfter !== null && { retry_after: retryAfter }),
      ...Object.fromEntries(entries.filter(([name]) => !MEMBERS.includes(name))),
      ...(Array.isArray(details) ? { details } : nested.length > 0 && { details: Object.fromEntries(nested) }),
    }
  },
  read: (body) => {
    const { type, title, status, detail, instance, code, request_id, retry_after, details } = body
    if (![type, title, code].every((value) => typeof value === "string") || typeof status !== "number") return undefined
    const members = Object.entries(body).filter(([name]) => !MEMBERS.includes(name))
    const nested = typeof details === "object" && details
    return {
      code,
      status,
      message: detail ?? title,
      details: Array.isArray(nested) ? nested : { ...Object.fromEntries(members), ...nested },
      docUrl: type,
      retryAfter: retry_after,
      context: {
        ...(typeof instance === "string" && { instance }),
        ...(typeof request_id === "string" && { requestId: request_id }),
      },
    }
  },
  schema: ({ code, status, docUrl }, details) => ({
    type: "object",
    properties: {
      type: { const: docUrl },
      title: { type: "string" },
      status: { const: status },
      detail: { type: "string" },
      instance: { type: "string", format: "uri-reference" },
      code: { const: code },
      request_id: { type: "string" },
      retry_after: { type: "integer" },
    },
    required: ["type", "title", "status", "code"],
    ...(details && { allOf: [describeMembers(details)] }),
  }),
}

/** Describes details as members of a body. Those with the name of a standard member, and arrays, are in `details`. */
function describeMembers(schema: JsonSchema): JsonSchema {
  // The enumeration of a record's names would reject the standard members.
  const { properties = {}, required = [], propertyNames, ...rest } = schema as ObjectSchema
  if (rest["type"] === "array") return { properties: { details: schema }, required: ["details"] }
  const isMember = (name: string): boolean => MEMBERS.includes(name)
  const nested = Object.entries(properties).filter(([name]) => isMember(name))
  const details = { type: "object", properties: Object.fromEntries(nested), required: required.filter(isMember) }
  const alternatives = ["allOf", "anyOf", "oneOf"].filter((key) => key in rest)
  return {
    ...rest,
    ...Object.fromEntries(alternatives.map((key) => [key, (rest[key] as JsonSchema[]).map(describeMembers)])),
    // All standard members are listed, in case further properties are forbidden or have a schema.
    properties: {
      ...properties,
      ...Object.fromEntries(MEMBERS.map((name) => [name, {}])),
      ...(nested.length > 0 && { details }),
    },
    required: [...required.filter((name) => !isMember(name)), ...(details.required.length > 0 ? ["details"] : [])],
  }
}

type ObjectSchema = JsonSchema & { readonly properties?: JsonSchema; readonly required?: readonly string[] }
