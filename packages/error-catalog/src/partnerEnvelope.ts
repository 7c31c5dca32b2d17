import type { Envelope } from "./Envelope.ts"

/** Body fields next to the error. */
export interface PartnerContext {
  /** The value of the `X-Request-Id` response header. */
  readonly requestId: string
}

/** `{ error: { type, code, message, details, doc_url, request_id } }`, where `details` defaults to null. */
export const partnerEnvelope: Envelope<PartnerContext> = {
  contentType: "application/json",
  write: ({ type, code, message, details, docUrl }, { requestId }) => ({
    error: { type, code, message, details, doc_url: docUrl, request_id: requestId },
  }),
  read: ({ error }) => {
    if (typeof error !== "object" || error === null) return undefined
    const { type, code, message, details, doc_url, request_id } = error as Record<string, unknown>
    if (![type, code, message, doc_url, request_id].every((value) => typeof value === "string")) return undefined
    return {
      type,
      code,
      message,
      details,
      docUrl: doc_url,
      retryAfter: (details as { retry_after?: unknown } | null | undefined)?.retry_after,
      context: { requestId: request_id as string },
    }
  },
  schema: ({ type, code }, details) => ({
    type: "object",
    properties: {
      error: {
        type: "object",
        properties: {
          type: { const: type },
          code: { const: code },
          message: { type: "string" },
          details: details ?? { type: ["object", "null"] },
          doc_url: { type: "string", format: "uri" },
          request_id: { type: "string" },
        },
        required: ["type", "code", "message", ...(details ? ["details"] : []), "doc_url", "request_id"],
      },
    },
    required: ["error"],
  }),
}
