import { Context, type Effect, type Redacted } from "effect"
import type { EventId, OrganizationId } from "../Identifier.ts"
import type { WebhookResponse } from "./classifyResponse.ts"

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
