import type { Auth, Operation, OperationId, Operations, RequestOf, ResponseOf } from "@outreach/contract"
import type { Caller } from "@outreach/domain/callers/ApiKey"
import type { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import type { Deployment } from "@outreach/domain/Deployment"
import type { DigestLedger } from "@outreach/domain/digest/DigestLedger"
import type { EventFeed } from "@outreach/domain/events/EventFeed"
import type { Inbox } from "@outreach/domain/inbox/Inbox"
import type { RecipientRegister } from "@outreach/domain/recipients/RecipientRegister"
import type { Effect } from "effect"
import type { ApiConfig } from "../ApiConfig.ts"
import type { Sender } from "./authenticate.ts"
import type { Json } from "./encode.ts"
import type { Refusal } from "./refuse.ts"

/** What a handler is given: the decoded request, who asks, and the headers that the contract lets the operation read. */
export type Asked<Id extends OperationId> = RequestOf<Operations[Id]> & {
  readonly caller: CallerOf<Operations[Id]["auth"]["kind"]>
  readonly headers: HeadersOf<Operations[Id]>
  /** The JSON that `body` was decoded from. */
  readonly bodyText: string
  /** Path and query, as they were sent. */
  readonly url: string
}

type CallerOf<Kind extends Auth["kind"]> = { none: undefined; bearer: Caller; scope: Caller; signature: Sender }[Kind]

type HeadersOf<Op extends Operation> = { readonly [Name in Op["headers"][number]]?: string }

/** The ports that handlers use. */
export type HandlerServices =
  | ApiConfig
  | Deployment
  | RecipientRegister
  | EventFeed
  | CampaignBook
  | DigestLedger
  | Inbox

/** Answers an operation, or refuses. */
export type Handler<Id extends OperationId> = (
  asked: Asked<Id>,
) => Effect.Effect<Answered<ResponseOf<Operations[Id]>>, Refusal, HandlerServices>

/** A response of the contract, or the same with its body rendered. */
type Answered<Response> = Response extends { readonly body: infer Body }
  ? Omit<Response, "body"> & { readonly body: Body | Json<Body> }
  : never

/**
 * What answers each operation of the contract.
 *
 * `not served` answers 501 once the caller is known and counted: a draft always, another operation until it is made.
 */
export type Handlers = {
  readonly [Id in OperationId]: "not served" | (Operations[Id]["draft"] extends true ? never : Handler<Id>)
}
