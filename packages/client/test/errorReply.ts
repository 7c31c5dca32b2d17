import { type PartnerErrorCode, partnerCatalog } from "@outreach/error-catalog"
import type { Reply } from "./startServer.ts"

/** Creates the reply that the service gives for a code of its catalog. */
export function errorReply(
  code: PartnerErrorCode,
  {
    details = {},
    headers = {},
  }: { readonly details?: Record<string, unknown>; readonly headers?: Record<string, string> } = {},
): Reply {
  // The codes that name a parameter want one; for the others it is a further key.
  const body = partnerCatalog.envelope(code, {
    message: "A sentence.",
    details: { parameter: "since", ...details },
    requestId: "req_0a1b",
    docsUrl: "https://docs.test",
  })
  return { status: partnerCatalog.httpStatus(code), body, headers }
}
