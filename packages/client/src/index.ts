export type {
  AudienceInput,
  CampaignSummary,
  CaseInput,
  ConsumerEvent,
  ConsumerEventData,
  Digest,
  DigestRecord,
  EnvelopeMembers,
  FunnelCounts,
  Health,
  List,
  OptionObject,
  OutreachCounts,
  PresignResult,
  ProgramSummary,
  Publication,
  Queries,
  QuestionInput,
  QuotaStatus,
  RecipientRecord,
  ServiceEvent,
  ServiceEventData,
  SubQuestionInput,
  SurveyCreated,
  SurveyInput,
  Targeting,
  ValidateResult,
  WebhookReceipt,
} from "@outreach/contract/types"
export { ApiError, type ApiErrorFields, ConnectionError } from "./ApiError.ts"
export type { BodyOf, Client, IdempotencyOptions, QueryOf, SyncOptions } from "./Client.ts"
export { type ClientOptions, createClient } from "./createClient.ts"
export type { Fetch, FetchRequest, FetchResponse } from "./exchange.ts"
export type { FeedEvent, FeedEventType, OutboundEvent } from "./FeedEvent.ts"
export type { AttemptInfo, Hooks, RequestInfo } from "./Hooks.ts"
export type { Pages } from "./paginate.ts"
export type { RateLimit, ResponseInfo } from "./ResponseInfo.ts"
export type { OperationId } from "./routes.ts"
export type { CallOptions } from "./send.ts"
export type { Sleep } from "./sleep.ts"
export type { Checkpoint, EventBatch } from "./syncEvents.ts"
