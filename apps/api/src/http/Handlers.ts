import type { Auth, Operation, OperationId, Operations, RequestOf, ResponseOf } from "@outreach/contract"
import type { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { Deployment } from "@outreach/domain/Deployment"
import type { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import type { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import type { Caller } from "@outreach/domain/organizations/ApiKey"
import type { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import type { EventFeed } from "@outreach/postgres/events/EventFeed"
import type { Effect } from "effect"
import type { ApiConfig } from "../ApiConfig.ts"
import type { PageEnd } from "./CallerActivity.ts"
import type { Json } from "./encode.ts"
import type { RequestError } from "./toErrorResponse.ts"
import type { WebhookSender } from "./verifySignature.ts"

/** What a handler is given: the decoded request, who asks, and the headers that the contract lets the operation read. */
export type HandlerInput<Id extends OperationId> = RequestOf<Operations[Id]> & {
  readonly caller: CallerOf<Operations[Id]["auth"]["kind"]>
  readonly headers: HeadersOf<Operations[Id]>
  /** The JSON that `body` was decoded from. */
  readonly bodyText: string
  /** Path and query, as they were sent. */
  readonly url: string
}

type CallerOf<Kind extends Auth["kind"]> = {
  none: undefined
  bearer: Caller
  scope: Caller
  signature: WebhookSender
}[Kind]

type HeadersOf<Op extends Operation> = { readonly [Name in Op["headers"][number]]?: string }

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

/** A response of the contract, or the same with its body rendered. */
type HandlerResult<Response> = Response extends { readonly body: infer Body }
  ? Omit<Response, "body"> & {
      readonly body: Body | Json<Body>
      /** Where a page of a polled list ended. */
      readonly pageEnd?: PageEnd
    }
  : never

/**
 * The handler of each operation of the contract.
 *
 * `not served` responds with 501 once the caller is known and counted: always for a draft, and for another operation until it has a handler.
 */
export type Handlers = {
  readonly [Id in OperationId]: "not served" | (Operations[Id]["draft"] extends true ? never : Handler<Id>)
}
