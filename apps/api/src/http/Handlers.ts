import type { Auth, OperationId, Operations, RequestOf, ResponseOf } from "@outreach/contract"
import type { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { Deployment } from "@outreach/domain/Deployment"
import type { DigestRepository } from "@outreach/domain/digest/Digest"
import type { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import type { Caller } from "@outreach/domain/organizations/ApiKey"
import type { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import type { EventFeed } from "@outreach/postgres/events/EventFeed"
import type { Effect } from "effect"
import type { ApiConfig } from "../ApiConfig.ts"
import type { Json, OperationResponse } from "./encode.ts"
import type { RequestError } from "./RequestError.ts"
import type { WebhookSender } from "./verifySignature.ts"

/** Arguments of a handler: the decoded request, the caller, and the request headers by lowercase name. */
export type HandlerInput<Id extends OperationId> = RequestOf<Operations[Id]> & {
  readonly caller: CallerOf<Operations[Id]["auth"]["kind"]>
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The JSON text of `body`. */
  readonly bodyText: string
  /** Path and query as received. */
  readonly url: string
}

type CallerOf<Kind extends Auth["kind"]> = {
  none: undefined
  bearer: Caller
  scope: Caller
  signature: WebhookSender
}[Kind]

export type HandlerServices =
  | ApiConfig
  | Deployment
  | RecipientRepository
  | EventFeed
  | CampaignRepository
  | DigestRepository
  | InboxRepository

export type Handler<Id extends OperationId> = (
  input: HandlerInput<Id>,
) => Effect.Effect<HandlerResult<ResponseOf<Operations[Id]>>, RequestError, HandlerServices>

/** A response of the contract, optionally with a rendered body. */
type HandlerResult<Response> = Response extends { readonly body: infer Body }
  ? Omit<Response, "body"> & {
      readonly body: Body | Json<Body>
    }
  : never

/** A handler of any operation. */
export type AnyHandler = (input: never) => Effect.Effect<OperationResponse, RequestError, HandlerServices>

/** The handler of each operation of the contract. Drafts have none: they return 501 after authentication and counting. */
export type Handlers = {
  readonly [Id in OperationId as Operations[Id]["draft"] extends true ? never : Id]: Handler<Id>
}
