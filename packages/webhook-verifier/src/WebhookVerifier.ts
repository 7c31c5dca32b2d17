import type { WebhookEvent } from "./WebhookEvent.ts"

/** Headers in any common form: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object. Names are case-insensitive. */
export type WebhookHeaders =
  // A `Headers` without lib DOM.Iterable.
  | { get(name: string): string | null; forEach(each: (value: string, name: string) => void): void }
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | { readonly [name: string]: string | readonly string[] | undefined }

/** A request with an unparsed body: a Fetch `Request`, or headers and the raw body. */
export type WebhookRequest =
  | {
      readonly headers: WebhookHeaders
      readonly bodyUsed: boolean
      arrayBuffer(): Promise<ArrayBuffer>
    }
  | {
      readonly headers: WebhookHeaders
      /** The raw body. Strings are read as UTF-8. */
      readonly body: Uint8Array | ArrayBuffer | string
      /** The raw body, if a framework stores it in addition to the parsed one. Takes precedence over `body`. */
      readonly rawBody?: Uint8Array | ArrayBuffer | string | undefined
    }

/** Allowed difference between a signature's timestamp and the clock, in seconds. */
export interface Tolerance {
  /** Maximum age of a signature. Default 300. */
  readonly past?: number | undefined
  /** How far the signer's clock may be ahead. Default 300. */
  readonly future?: number | undefined
}

/** A Standard Schema, such as one of zod, Valibot or ArkType. */
export interface EventSchema<Event> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Event> | Promise<Validated<Event>>
    readonly types?: { readonly input: unknown; readonly output: Event } | undefined
  }
}

type Validated<Event> =
  | { readonly value: Event; readonly issues?: undefined }
  | { readonly issues: readonly FoundIssue[] }

/** A violation, as a Standard Schema reports it. */
export interface FoundIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Options of `createWebhookVerifier`. */
export interface WebhookVerifierOptions<Event = WebhookEvent> {
  /** Signing secrets of the endpoint, 1 to 16. During a rotation, pass the old and the new one. */
  readonly secrets: readonly (string | undefined)[]
  /** 0 to 3,600 seconds for both directions or for each. The limit itself is accepted. Default 300. */
  readonly tolerance?: number | Tolerance | undefined
  /** Current Unix time in seconds; called once at creation as a check. Default: the system clock. */
  readonly now?: (() => number) | undefined
  /**
   * Additional validation of each event, for example `/schemas` of this package. Rejected events get a 500, so the service retries them.
   * Default: only the envelope is validated.
   */
  readonly schema?: EventSchema<Event> | undefined
}

/** Options for one request. */
export interface VerifyOptions {
  /** Time at which a queued request was received: a `Date` or Unix seconds. Default: now. */
  readonly receivedAt?: Date | number | undefined
}

/** Verifies webhooks. */
export interface WebhookVerifier<Event = WebhookEvent> {
  /** Verifies a request and returns its event. Rejects only with `WebhookVerificationError`. */
  verify(request: WebhookRequest, options?: VerifyOptions): Promise<Event>
}
