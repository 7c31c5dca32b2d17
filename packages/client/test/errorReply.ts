import { definePartnerCatalog, type PartnerErrorCode } from "@outreach/contract/catalogs"
import type { Reply } from "./startServer.ts"

const CATALOG = definePartnerCatalog("https://docs.test")

/** Creates the reply that the service gives for a code of its catalog. */
export function errorReply(
  code: PartnerErrorCode,
  {
    details = {},
    headers = {},
  }: { readonly details?: Record<string, unknown>; readonly headers?: Record<string, string> } = {},
): Reply {
  // The codes that name a parameter want one; for the others it is a further key.
  const body = CATALOG.body(code, {
    message: "A sentence.",
    details: { parameter: "since", ...details },
    requestId: "req_0a1b",
    retryAfter: 0,
  })
  return { status: CATALOG.codes[code].status, body, headers }
}
