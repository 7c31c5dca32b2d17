import type { Envelope } from "./Envelope.ts"

/** What a body holds beside its error. */
export interface ProblemContext {
  /** A URI reference of this occurrence, such as the path of the request (RFC 9457, 3.1.5). */
  readonly instance?: string | undefined
  /** The id of the request: the member `request_id`. */
  readonly requestId?: string | undefined
}

const MEMBERS = new Set([
  "type",
  "title",
  "status",
  "detail",
  "instance",
  "code",
  "request_id",
  "retry_after",
  "details",
])

/**
 * `application/problem+json` (RFC 9457): `type` is the code's `docUrl`, and `code`, `request_id`, `retry_after` and the details are further members.
 *
 * A detail whose name is one of these stands in a member `details`, so that nothing is lost. `detail` is left out where it says what `title` says.
 */
export const problemJson: Envelope<ProblemContext> = {
  contentType: "application/problem+json",
  write: ({ code, status, title, message, details, docUrl, retryAfter }, { instance, requestId }) => {
    const entries = Array.isArray(details) ? [] : Object.entries(details ?? {})
    const nested = entries.filter(([name]) => MEMBERS.has(name))
    return {
      type: docUrl,
      title,
      status,
      ...(message !== title && { detail: message }),
      ...(instance !== undefined && { instance }),
      code,
      ...(requestId !== undefined && { request_id: requestId }),
      ...(retryAfter !== null && { retry_after: retryAfter }),
      ...Object.fromEntries(entries.filter(([name]) => !MEMBERS.has(name))),
      ...(Array.isArray(details) ? { details } : nested.length > 0 && { details: Object.fromEntries(nested) }),
    }
  },
  read: (body) => {
    const { type, title, status, detail, instance, code, request_id, retry_after, details } = body
    const members = Object.entries(body).filter(([name]) => !MEMBERS.has(name))
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
    // What does not stand beside the others is not described.
    ...(details?.["type"] === "object" &&
      !Object.keys(details["properties"] ?? {}).some((name) => MEMBERS.has(name)) && {
        allOf: [{ ...details, additionalProperties: true }],
      }),
  }),
}
