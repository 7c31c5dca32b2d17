import type { NetworkFailure } from "@outreach/retry-policy"
import { Context, Effect, type Redacted } from "effect"
import type { EventId, OrganizationId } from "../Identifier.ts"

export type WebhookResponse =
  | { readonly status: number; readonly response: string }
  | {
      readonly error: NetworkFailure
      /** What a name server said of a name that does not resolve. */
      readonly response?: string
    }

interface EndpointAddress {
  readonly organizationId: OrganizationId
  readonly url: string
}

export class WebhookClient extends Context.Service<
  WebhookClient,
  {
    /**
     * Posts a body and calls `onReply` once, perhaps at once; every failure of the network or of the other side is a reply. Redirects are
     * not followed. Returns what gives the call up: no reply comes then.
     *
     * Not an effect, because a fiber for each call took a tenth of a delivery's CPU time; `postOnce` is.
     */
    post(
      endpoint: EndpointAddress,
      headers: Readonly<Record<string, string>>,
      body: string,
      onReply: (reply: WebhookResponse) => void,
    ): () => void
  }
>()("domain/deliveries/WebhookClient") {
  /** Posts a body as an effect. */
  static readonly postOnce = (
    endpoint: EndpointAddress,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Effect.Effect<WebhookResponse, never, WebhookClient> =>
    Effect.flatMap(WebhookClient, (client) =>
      Effect.callback((resume) => {
        const giveUp = client.post(endpoint, headers, body, (reply) => resume(Effect.succeed(reply)))
        return Effect.sync(giveUp)
      }),
    )
}

/** Signs webhook bodies; a port because the fast HMAC is the platform's. */
export class Signer extends Context.Service<
  Signer,
  {
    /** Creates the value of `X-Signature`: one entry for each secret. `timestamp` is in Unix seconds. */
    sign(body: string, secrets: ReadonlyArray<Redacted.Redacted>, timestamp: number): string
    /** Creates the value of `webhook-signature` by the specification of Standard Webhooks: one entry for each secret. */
    signStandard(
      body: string,
      secrets: ReadonlyArray<Redacted.Redacted>,
      message: { readonly eventId: EventId; readonly timestamp: number },
    ): string
  }
>()("domain/deliveries/Signer") {}
