import { Context, type Effect, type Redacted } from "effect"
import type { EventId, OrganizationId } from "../Identifier.ts"

/**
 * Reason for an incomplete response.
 *
 * `name_not_asked`: the name wasn't resolved in time because of other names; `deadline`: the time limit of the attempt; `blocked_address`: the name resolves to a forbidden address;
 * `unknown`: any other network failure.
 */
export const NETWORK_FAILURES = [
  "refused",
  "reset",
  "unresolved_name",
  "name_not_asked",
  "tls",
  "connect_timeout",
  "headers_timeout",
  "body_timeout",
  "deadline",
  "blocked_address",
  "unknown",
] as const
export type NetworkFailure = (typeof NETWORK_FAILURES)[number]

/** Response to a delivery, or the reason why it is incomplete. */
export type WebhookResponse =
  | {
      readonly status: number
      readonly response: string
      /** Wait requested by the `Retry-After` of a 4xx or 5xx. */
      readonly retryAfterMs?: number | undefined
    }
  | {
      readonly error: NetworkFailure
      /** Result of a name server for an unresolvable name. */
      readonly response?: string
    }

export class WebhookClient extends Context.Service<
  WebhookClient,
  {
    /** Posts a body. Failures of the network or the receiver are replies. Doesn't follow redirects. */
    post(
      endpoint: { readonly organizationId: OrganizationId; readonly url: string },
      headers: Readonly<Record<string, string>>,
      body: Uint8Array,
    ): Effect.Effect<WebhookResponse>
  }
>()("domain/deliveries/WebhookClient") {}

/** Signs webhook bodies; a port because fast HMAC depends on the platform. */
export class Signer extends Context.Service<
  Signer,
  {
    /** Creates the value of `X-Signature`: one entry for each secret. `timestamp` is in Unix seconds. */
    sign(body: Uint8Array, secrets: ReadonlyArray<Redacted.Redacted>, timestamp: number): string
    /** Creates the value of `webhook-signature` (Standard Webhooks): one entry for each secret. */
    signStandard(
      body: Uint8Array,
      secrets: ReadonlyArray<Redacted.Redacted>,
      message: { readonly eventId: EventId; readonly timestamp: number },
    ): string
  }
>()("domain/deliveries/Signer") {}
