export type {
  ConsumerEvent,
  ConsumerEventData,
  EnvelopeMembers,
  List,
  ServiceEvent,
  ServiceEventData,
} from "../types.d.ts"
export { CampaignSummary, ProgramSummary } from "./campaigns.ts"
export { type Decoded, decode, type RawQuery, type Refusal, rawQuery } from "./decode.ts"
export { Digest, DigestRecord, FunnelCounts, OutreachCounts, QuotaStatus } from "./digest.ts"
export { LegacyError, PartnerError } from "./errors.ts"
export {
  EVENTS,
  type EventData,
  type EventDefinition,
  EventEnvelope,
  EventList,
  FeedEvent,
  RECIPIENTS_PER_EVENT,
} from "./events.ts"
export { eventExamples, examples } from "./examples.ts"
export { requestHeaders } from "./headers.ts"
export { Health } from "./health.ts"
export {
  CampaignId,
  Email,
  EventId,
  Npi,
  ProgramId,
  RecipientId,
  RequestId,
  Token,
  WebhookEndpointId,
} from "./identifiers.ts"
export { list } from "./lists.ts"
export {
  BOUNCE_REASONS,
  type BounceReason,
  EVENT_TYPES,
  type EventType,
  type EventTypeOf,
  FEED_EVENT_TYPES,
  type FeedEventType,
  SCOPES,
  type Scope,
} from "./names.ts"
export type {
  Auth,
  CallOf,
  ErrorCodeOf,
  Operation,
  ParameterCodes,
  RequestBody,
  RequestHeader,
  RequestOf,
  ResponseHeader,
  ResponseOf,
  ResponseRow,
} from "./Operation.ts"
export { type OperationId, type Operations, operations } from "./operations.ts"
export { OptionObject, Question, type QuestionInput, SubQuestion, type SubQuestionInput } from "./questions.ts"
export type { Schema } from "./Schema.ts"
export {
  AudienceInput,
  Case,
  type CaseInput,
  PresignResult,
  Publication,
  type Survey,
  SurveyCreated,
  SurveyInput,
  Targeting,
  ValidateResult,
} from "./surveys.ts"
export { CalendarDate, Instant, Since, Timestamp } from "./times.ts"
export { RecipientList, RecipientRecord } from "./tokens.ts"
export { InboundEvent, WebhookReceipt } from "./webhooks.ts"
