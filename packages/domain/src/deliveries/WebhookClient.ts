import { Context, type Effect, type Redacted } from "effect"
import type { EventId, OrganizationId } from "../Identifier.ts"

/** Reasons for an incomplete response, each described as the start of a sentence. */
export const NETWORK_FAILURES = {
  refused: "The connection is refused",
  reset: "The connection is closed before a response arrives",
  unresolved_name: "Its host name doesn't resolve",
  name_not_asked: "Its host name wasn't looked up in time because this service is overloaded",
  tls: "TLS fails, usually because of its certificate",
  connect_timeout: "It doesn't accept a connection in time",
  headers_timeout: "It doesn't respond in time",
  body_timeout: "Its response isn't complete in time",
  deadline: "The whole call takes too long",
  blocked_address: "Calls to its address aren't allowed, for example because it is in a private network",
  proxy_failed: "The forward proxy of this service fails or rejects the call",
  unreachable_by_proxy: "The forward proxy of this service can't connect to it",
  unknown: "The network fails",
} as const
export type NetworkFailure = keyof typeof NETWORK_FAILURES

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
      /** Result of a name server or of the forward proxy. */
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
