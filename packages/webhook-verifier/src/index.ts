import { verify } from "@outreach/signature"
import { verifierWith } from "./verifierWith.ts"
import type { WebhookEvent } from "./WebhookEvent.ts"
import type { WebhookVerifier, WebhookVerifierOptions } from "./WebhookVerifier.ts"

export type {
  CampaignSummary,
  ConsumerEventData,
  EnvelopeMembers as EventEnvelope,
  EventOf,
  EventType,
  KnownEvent,
  ProgramSummary,
  RecipientRecord,
  ServiceEventData,
  UnknownEvent,
  UnknownEventType,
  WebhookEvent,
} from "./WebhookEvent.ts"
export {
  type SchemaIssue,
  WebhookVerificationError,
  type WebhookVerificationErrorCode,
} from "./WebhookVerificationError.ts"
export type {
  EventSchema,
  Tolerance,
  VerifyOptions,
  WebhookHeaders,
  WebhookRequest,
  WebhookVerifier,
  WebhookVerifierOptions,
} from "./WebhookVerifier.ts"

/**
 * Creates a verifier for webhooks signed with any of the secrets.
 *
 * Throws `WebhookVerificationError` (`no_secrets`, `empty_secret`, `too_many_secrets`, `invalid_options`) on unusable secrets or
 * options. Source: Outreach Partner API specification, Authentication, 4, and Events.
 */
export function createWebhookVerifier<Event = WebhookEvent>(
  options: WebhookVerifierOptions<Event>,
): WebhookVerifier<Event> {
  return verifierWith(verify, options)
}
