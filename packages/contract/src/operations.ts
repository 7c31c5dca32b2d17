import * as z from "zod"
import { Digest, DigestQuery } from "./digest.ts"
import { EventList, EventListQuery } from "./events.ts"
import { Health } from "./health.ts"
import { CampaignId, Token } from "./identifiers.ts"
import type { Operation } from "./Operation.ts"
import { PresignQuery, PresignResult, SurveyCreated, SurveyInput, ValidateResult } from "./surveys.ts"
import { CampaignRecipientsQuery, RecipientList, RecipientRecord, TokenListQuery, TokenQuery } from "./tokens.ts"
import { InboundEvent, WebhookPath, WebhookReceipt } from "./webhooks.ts"

const NONE = z.strictObject({})
const ONE_MEBIBYTE = 1_048_576

const unexpected = ["NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"] as const
const refused = [
  "UNAUTHORIZED",
  "INSUFFICIENT_SCOPE",
  "INVALID_PARAMETER",
  "MISSING_PARAMETER",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_KEY_IN_USE",
  "RATE_LIMITED",
  ...unexpected,
] as const

const partnerGet = {
  method: "GET",
  envelope: "partner",
  draft: false,
  pathParameters: NONE,
  query: NONE,
  parameterCodes: {},
  headers: ["Idempotency-Key"],
  body: null,
} as const

const draft = {
  tag: "Drafts",
  auth: { kind: "bearer" },
  envelope: "legacy",
  draft: true,
  pathParameters: NONE,
  query: NONE,
  parameterCodes: {},
  headers: ["Idempotency-Key"],
  body: null,
  errors: [
    "VALIDATION_ERROR",
    "UNAUTHORIZED",
    "RATE_LIMITED",
    "INTERNAL_ERROR",
    "NOT_IMPLEMENTED",
    "SERVICE_UNAVAILABLE",
  ],
} as const

const surveyBody = { schema: SurveyInput, maxBytes: ONE_MEBIBYTE } as const

/** The contract: all operations of the API, by id. */
export const operations = {
  getHealth: {
    ...partnerGet,
    operationId: "getHealth",
    path: "/v1/health",
    tag: "Health",
    summary: "Check health",
    description: "Reports that the service is reachable. No rate limit.",
    auth: { kind: "none" },
    headers: [],
    responses: { 200: { description: "The service is reachable.", body: Health, headers: [] } },
    errors: ["INVALID_PARAMETER", ...unexpected],
  },
  getToken: {
    ...partnerGet,
    operationId: "getToken",
    path: "/v1/partners/consumer/tokens/{token}",
    tag: "Tokens",
    summary: "Resolve one token",
    description:
      "For ad-hoc and debugging use only: a partner's redirect handler must not call it on the click path. The ETag is derived from `updated_at`.",
    auth: { kind: "scope", scope: "tokens:read" },
    pathParameters: z.strictObject({ token: Token }),
    query: TokenQuery,
    parameterCodes: { token: "INVALID_TOKEN", "expand[]": "INVALID_EXPAND" },
    headers: ["If-None-Match", "Idempotency-Key"],
    responses: {
      200: { description: "The recipient record.", body: RecipientRecord, headers: ["ETag", "Cache-Control"] },
      304: { description: "`If-None-Match` matches the current ETag.", body: null, headers: ["ETag", "Cache-Control"] },
    },
    errors: ["INVALID_TOKEN", "INVALID_EXPAND", "TOKEN_NOT_FOUND", ...refused],
  },
  listTokens: {
    ...partnerGet,
    operationId: "listTokens",
    path: "/v1/partners/consumer/tokens",
    tag: "Tokens",
    summary: "List recipient records since a time",
    description: "Records updated at or after `since`, in the stable order of (`updated_at`, id).",
    auth: { kind: "scope", scope: "tokens:read" },
    query: TokenListQuery,
    parameterCodes: { "expand[]": "INVALID_EXPAND" },
    responses: { 200: { description: "One page of recipient records.", body: RecipientList, headers: [] } },
    errors: ["INVALID_EXPAND", ...refused],
  },
  listEvents: {
    ...partnerGet,
    operationId: "listEvents",
    path: "/v1/partners/consumer/events",
    tag: "Events",
    summary: "List outreach events since a time",
    description:
      "Events of traffic campaigns under partner-bound programs, emitted at or after `since`. Deduplicate by `event_id`, as with webhooks; an early `since` backfills history.",
    auth: { kind: "scope", scope: "events:read" },
    query: EventListQuery,
    parameterCodes: { type: "INVALID_TYPE_FILTER", "types[]": "INVALID_TYPE_FILTER", "expand[]": "INVALID_EXPAND" },
    responses: { 200: { description: "One page of event envelopes.", body: EventList, headers: [] } },
    errors: ["INVALID_TYPE_FILTER", "INVALID_EXPAND", ...refused],
  },
  listCampaignRecipients: {
    ...partnerGet,
    operationId: "listCampaignRecipients",
    path: "/v1/partners/consumer/campaigns/{id}/recipients",
    tag: "Campaigns",
    summary: "List recipients of a campaign",
    description: "An unknown campaign has no recipients.",
    auth: { kind: "scope", scope: "recipients:read" },
    pathParameters: z.strictObject({ id: CampaignId }),
    query: CampaignRecipientsQuery,
    parameterCodes: { id: "INVALID_CAMPAIGN_ID", "expand[]": "INVALID_EXPAND" },
    responses: { 200: { description: "One page of recipient records.", body: RecipientList, headers: [] } },
    errors: ["INVALID_CAMPAIGN_ID", "INVALID_EXPAND", ...refused],
  },
  getDigest: {
    ...partnerGet,
    operationId: "getDigest",
    path: "/v1/partners/consumer/digest",
    tag: "Digest",
    summary: "Read the daily digest",
    description:
      "One record per partner-bound program of the caller's organization, for one UTC date. A future date is rejected.",
    auth: { kind: "scope", scope: "digest:read" },
    query: DigestQuery,
    responses: { 200: { description: "The digest.", body: Digest, headers: [] } },
    errors: refused,
  },
  receiveWebhook: {
    ...partnerGet,
    operationId: "receiveWebhook",
    method: "POST",
    path: "/v1/partners/consumer/webhooks/{endpoint_id}",
    tag: "Webhooks",
    summary: "Receive a signed event",
    description:
      "The signature is verified over the raw body before it is parsed as JSON, with any `Content-Type`. Acknowledged once stored; a repeated `event_id` and an unknown event type are acknowledged too.",
    auth: { kind: "signature" },
    pathParameters: WebhookPath,
    headers: [],
    body: { schema: InboundEvent, maxBytes: ONE_MEBIBYTE },
    responses: { 200: { description: "The event is stored.", body: WebhookReceipt, headers: [] } },
    errors: [
      "INVALID_SIGNATURE",
      "INVALID_PARAMETER",
      "MISSING_PARAMETER",
      "PAYLOAD_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      ...unexpected,
    ],
  },
  createSurvey: {
    ...draft,
    operationId: "createSurvey",
    method: "POST",
    path: "/v1/surveys",
    summary: "Create a survey (draft, not served)",
    description: "Will save the survey as a draft. Until then it returns 501.",
    body: surveyBody,
    responses: { 201: { description: "The survey is saved as a draft.", body: SurveyCreated, headers: [] } },
  },
  validateSurvey: {
    ...draft,
    operationId: "validateSurvey",
    method: "POST",
    path: "/v1/surveys/validate",
    summary: "Validate a survey (draft, not served)",
    description: "Will validate the survey without saving it. Until then it returns 501.",
    body: surveyBody,
    responses: { 200: { description: "The survey is valid.", body: ValidateResult, headers: [] } },
  },
  presignUpload: {
    ...draft,
    operationId: "presignUpload",
    method: "GET",
    path: "/v1/uploads/presign",
    summary: "Get a pre-signed upload URL (draft, not served)",
    description: "Will give an address to upload a file to. Until then it returns 501.",
    query: PresignQuery,
    responses: { 200: { description: "Where to upload.", body: PresignResult, headers: [] } },
  },
} as const satisfies Record<string, Operation>

/** The contract's rows by operation id. */
export type Operations = typeof operations
export type OperationId = keyof Operations
