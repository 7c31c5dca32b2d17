import type { WebhookEvent } from "./WebhookEvent.ts"

/** Headers of any making: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object; names in any case. */
export type WebhookHeaders =
  // A `Headers` without lib DOM.Iterable.
  | { get(name: string): string | null; forEach(each: (value: string, name: string) => void): void }
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | { readonly [name: string]: string | readonly string[] | undefined }

/** A request before anything parsed its body: a Fetch `Request`, or headers beside the raw body. */
export type WebhookRequest =
  | {
      readonly headers: WebhookHeaders
      readonly bodyUsed: boolean
      arrayBuffer(): Promise<ArrayBuffer>
    }
  | {
      readonly headers: WebhookHeaders
      /** The raw body; a string stands for its UTF-8 bytes. */
      readonly body: Uint8Array | ArrayBuffer | string
      /** The raw body where a framework keeps it beside the parsed one; comes before `body`. */
      readonly rawBody?: Uint8Array | ArrayBuffer | string | undefined
    }

/** How far a signature's timestamp may lie from the clock, in seconds. */
export interface Tolerance {
  /** How old a signature may be. Default 300. */
  readonly past?: number | undefined
  /** How far ahead the signer's clock may run. Default 300. */
  readonly future?: number | undefined
}

/** A schema by the Standard Schema convention, as zod, Valibot and ArkType make them. */
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

/** What a schema reports, by the Standard Schema convention. */
export interface FoundIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a verifier holds. */
export interface WebhookVerifierOptions<Event = WebhookEvent> {
  /** The endpoint's signing secrets, 1 to 16; during a rotation both the old and the new one. */
  readonly secrets: readonly (string | undefined)[]
  /** 0 to 3,600 seconds in both directions, or each apart; a signature exactly that far away is accepted. Default 300. */
  readonly tolerance?: number | Tolerance | undefined
  /** The clock, in Unix seconds; it is tried at once. Default: the system's. */
  readonly now?: (() => number) | undefined
  /**
   * Checks each event further, for instance `/schemas` of this package. An event that it refuses is answered 500, and comes again.
   * Default: the envelope alone is checked.
   */
  readonly schema?: EventSchema<Event> | undefined
}

/** What is known of one request beside its headers and body. */
export interface VerifyOptions {
  /** When a queued request was received: a `Date`, or Unix seconds. Default: now. */
  readonly receivedAt?: Date | number | undefined
}

/** Verifies webhooks. */
export interface WebhookVerifier<Event = WebhookEvent> {
  /** Verifies one request and returns its event; rejects with `WebhookVerificationError`, and with nothing else. */
  verify(request: WebhookRequest, options?: VerifyOptions): Promise<Event>
}
