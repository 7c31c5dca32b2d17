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

/** Query parameters of an operation, by the contract's names without brackets. `since` may be a `Date`. */
export type QueryOf<Id extends OperationId> = {
  readonly [Name in keyof Queries[Id] as BareName<Name>]:
    | Readonlys<Queries[Id][Name]>
    | (Name extends "since" ? Date : never)
}

/** Body of an operation's successful response. */
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

/** Idempotency options of a call. */
export interface IdempotencyOptions {
  /** 1 to 255 printable ASCII characters, sent with every attempt. The service keeps the response for a day. */
  readonly idempotencyKey?: string | undefined
}

/** Options of a reconciliation. */
export interface SyncOptions extends Omit<QueryOf<"listEvents">, "since" | "cursor">, CallOptions {
  /** The stored checkpoint; the first time `{ since }`, the earliest time of the events. */
  readonly checkpoint: Checkpoint | { readonly since: string | Date }
  /** Seconds between passes over the feed. Default 900. null stops after one pass. */
  readonly everySeconds?: number | null | undefined
  /** Whole seconds that each pass reads again, in case the service's clock was set back. Default 5. */
  readonly overlapSeconds?: number | undefined
}

/** Operations of the Outreach Partner API. */
export interface Client {
  /** Returns whether the service is reachable. Doesn't send the key. */
  getHealth(options?: CallOptions): Promise<Health>
  /** Looks up one token. For ad-hoc use, not for the click path. */
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
  /** Sends a signed event to the service's webhook receiver, which stores it once for its `event_id`. */
  sendEvent(
    endpointId: string,
    event: OutboundEvent,
    options: CallOptions & {
      /** Active signing secrets. The signature has one `v1` entry for each. */
      readonly secrets: readonly string[]
    },
  ): Promise<WebhookReceipt>
  /** Creates a survey (a draft of the contract, not served yet). Generates an idempotency key if none is given. */
  createSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<SurveyCreated>
  /** Validates a survey without saving it (a draft of the contract, not served yet). */
  validateSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<ValidateResult>
  /** Requests an upload URL (a draft of the contract, not served yet). */
  presignUpload(
    filename: string,
    options?: Omit<QueryOf<"presignUpload">, "filename"> & CallOptions & IdempotencyOptions,
  ): Promise<PresignResult>
  readonly sync: {
    /** Yields each event since the checkpoint once, in batches. Reads again every 15 minutes until aborted. */
    events(options: SyncOptions): AsyncGenerator<EventBatch, void, void>
  }
  /** Returns the request id, rate limit and headers that belong to a result, a page or an error of this client. */
  responseOf(result: object): ResponseInfo | undefined
}
