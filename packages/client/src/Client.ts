import type {
  Digest,
  Health,
  List,
  PresignResult,
  Queries,
  RecipientRecord,
  SurveyCreated,
  SurveyInput,
  ValidateResult,
  WebhookReceipt,
} from "@outreach/contract/types"
import type { FeedEvent, OutboundEvent } from "./FeedEvent.ts"
import type { Pages } from "./paginate.ts"
import type { ResponseInfo } from "./ResponseInfo.ts"
import type { OperationId } from "./routes.ts"
import type { CallOptions } from "./send.ts"
import type { Checkpoint, EventBatch } from "./syncEvents.ts"

type BareName<Name> = Name extends `${infer Bare}[]` ? Bare : Name
type Readonlys<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value

/** What an operation can be asked in its query, by the contract's names without their brackets; `since` may be a `Date`. */
export type QueryOf<Id extends OperationId> = {
  readonly [Name in keyof Queries[Id] as BareName<Name>]:
    | Readonlys<Queries[Id][Name]>
    | (Name extends "since" ? Date : never)
}

/** The body of an operation's success. */
export type BodyOf<Id extends OperationId> = Bodies[Id]

interface Bodies {
  getHealth: Health
  getToken: RecipientRecord
  listTokens: List<RecipientRecord>
  listEvents: List<FeedEvent>
  listCampaignRecipients: List<RecipientRecord>
  getDigest: Digest
  receiveWebhook: WebhookReceipt
  createSurvey: SurveyCreated
  validateSurvey: ValidateResult
  presignUpload: PresignResult
}

/** Names a request, so that the service executes it once. */
export interface IdempotencyOptions {
  /** 1 to 255 printable ASCII characters, sent unchanged with every attempt; the service keeps the answer for a day. */
  readonly idempotencyKey?: string | undefined
}

/** What a reconciliation can be told. */
export interface SyncOptions extends Omit<QueryOf<"listEvents">, "since" | "cursor">, CallOptions {
  /** The one that was stored last; the first time, `{ since }` with the time from which on events are wanted. */
  readonly checkpoint: Checkpoint | { readonly since: string | Date }
  /** Seconds from the end of one walk to the next. Default 900; null ends after one walk. */
  readonly everySeconds?: number | null | undefined
  /** Whole seconds that each walk reads again, for a service whose clock was set back by that much. Default 5. */
  readonly overlapSeconds?: number | undefined
}

/** The operations of the Outreach Partner API. */
export interface Client {
  /** Reports whether the service is reachable; sends no key. */
  getHealth(options?: CallOptions): Promise<Health>
  /** Resolves one token; for ad-hoc use, not for the click path. */
  getToken(token: string, options?: QueryOf<"getToken"> & CallOptions & IdempotencyOptions): Promise<RecipientRecord>
  /** Lists recipient records updated since a time. */
  listTokens(options: QueryOf<"listTokens"> & CallOptions): Pages<RecipientRecord>
  /** Lists outreach events emitted since a time. */
  listEvents(options: QueryOf<"listEvents"> & CallOptions): Pages<FeedEvent>
  /** Lists the recipients of a campaign. */
  listCampaignRecipients(
    campaignId: string,
    options?: QueryOf<"listCampaignRecipients"> & CallOptions,
  ): Pages<RecipientRecord>
  /** Reads the digest of a UTC date, `YYYY-MM-DD`. */
  getDigest(date: string, options?: CallOptions & IdempotencyOptions): Promise<Digest>
  /** Sends a signed event to the service's webhook receiver, where it is stored once for its `event_id`. */
  sendEvent(
    endpointId: string,
    event: OutboundEvent,
    options: CallOptions & {
      /** The active signing secrets: one `v1` is sent for each. */
      readonly secrets: readonly string[]
    },
  ): Promise<WebhookReceipt>
  /** Creates a survey; a draft of the contract, not served yet. Without an idempotency key it makes one. */
  createSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<SurveyCreated>
  /** Validates a survey and saves nothing; a draft of the contract, not served yet. */
  validateSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<ValidateResult>
  /** Asks for an address to upload a file to; a draft of the contract, not served yet. */
  presignUpload(
    filename: string,
    options?: Omit<QueryOf<"presignUpload">, "filename"> & CallOptions & IdempotencyOptions,
  ): Promise<PresignResult>
  readonly sync: {
    /** Hands out every event since the checkpoint once, batch by batch, and looks again every 15 minutes until aborted. */
    events(options: SyncOptions): AsyncGenerator<EventBatch, void, void>
  }
  /** Returns what came with a result of this client, a page or an error, beside its body: the request id, the rate limit, the headers. */
  responseOf(result: object): ResponseInfo | undefined
}
