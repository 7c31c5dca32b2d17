import { Context, type Effect, type Redacted } from "effect"
import type { EventId, OrganizationId } from "../Identifier.ts"
import type { NetworkFailure } from "./classifyResponse.ts"

export type WebhookResponse =
  | {
      readonly status: number
      readonly response: string
      /** How long the `Retry-After` of a 4xx or 5xx asks to wait. */
      readonly retryAfterMs?: number | undefined
    }
  | {
      readonly error: NetworkFailure
      /** What a name server said of a name that does not resolve. */
      readonly response?: string
    }

export class WebhookClient extends Context.Service<
  WebhookClient,
  {
    /** Posts a body; every failure of the network or of the other side is a reply. Redirects are not followed. */
    post(
      endpoint: { readonly organizationId: OrganizationId; readonly url: string },
      headers: Readonly<Record<string, string>>,
      body: Uint8Array,
    ): Effect.Effect<WebhookResponse>
  }
>()("domain/deliveries/WebhookClient") {}

/** Signs webhook bodies; a port because the fast HMAC is the platform's. */
export class Signer extends Context.Service<
  Signer,
  {
    /** Creates the value of `X-Signature`: one entry for each secret. `timestamp` is in Unix seconds. */
    sign(body: Uint8Array, secrets: ReadonlyArray<Redacted.Redacted>, timestamp: number): string
    /** Creates the value of `webhook-signature` by the specification of Standard Webhooks: one entry for each secret. */
    signStandard(
      body: Uint8Array,
      secrets: ReadonlyArray<Redacted.Redacted>,
      message: { readonly eventId: EventId; readonly timestamp: number },
    ): string
  }
>()("domain/deliveries/Signer") {}
