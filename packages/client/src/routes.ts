import type { Queries } from "@outreach/contract/types"

/** Id of an operation. */
export type OperationId = keyof Queries

/** Route of an operation, and whether it requires the API key. The key isn't sent to other routes. */
export interface Route {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly bearer: boolean
}

// A copy without schemas, so that bundles don't contain zod. A test compares it with the contract's table.
export const routes: Readonly<Record<OperationId, Route>> = {
  getHealth: { method: "GET", path: "/v1/health", bearer: false },
  getToken: { method: "GET", path: "/v1/partners/consumer/tokens/{token}", bearer: true },
  listTokens: { method: "GET", path: "/v1/partners/consumer/tokens", bearer: true },
  listEvents: { method: "GET", path: "/v1/partners/consumer/events", bearer: true },
  listCampaignRecipients: { method: "GET", path: "/v1/partners/consumer/campaigns/{id}/recipients", bearer: true },
  getDigest: { method: "GET", path: "/v1/partners/consumer/digest", bearer: true },
  receiveWebhook: { method: "POST", path: "/v1/partners/consumer/webhooks/{endpoint_id}", bearer: false },
  createSurvey: { method: "POST", path: "/v1/surveys", bearer: true },
  validateSurvey: { method: "POST", path: "/v1/surveys/validate", bearer: true },
  presignUpload: { method: "GET", path: "/v1/uploads/presign", bearer: true },
}
