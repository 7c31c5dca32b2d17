import type { OperationId, Operations } from "@outreach/contract"

/** What a request needs to know of an operation. */
export type Route<Id extends OperationId = OperationId> = {
  readonly method: Operations[Id]["method"]
  readonly path: Operations[Id]["path"]
  /** Whether the API key is sent: only where it is asked for. */
  readonly bearer: Operations[Id]["auth"]["kind"] extends "none" | "signature" ? false : true
}

// The contract's table holds schemas, which would pull zod into the caller's bundle; its types hold this copy to it.
/** Where each operation of the contract is served. */
export const routes: { readonly [Id in OperationId]: Route<Id> } = {
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
