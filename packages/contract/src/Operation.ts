import type * as z from "zod"
import type { LegacyErrorCode, PartnerErrorCode } from "./catalogs.ts"
import type { Scope } from "./names.ts"

/** How a caller proves who it is: not at all, a bearer, a bearer with a scope, or a webhook signature. */
export type Auth =
  | { readonly kind: "none" }
  | { readonly kind: "bearer" }
  | { readonly kind: "scope"; readonly scope: Scope }
  | { readonly kind: "signature" }

/** A request header that an operation reads beside its credential. */
export type RequestHeader = "If-None-Match" | "Idempotency-Key"

/** A response header that an operation sets beside those that every response carries. */
export type ResponseHeader = "ETag" | "Cache-Control"

/** A JSON request body and the most bytes that are read of it. */
export interface RequestBody {
  readonly schema: z.ZodType
  readonly maxBytes: number
}

/** A successful response; `body` is null where there is none. */
export interface ResponseRow {
  readonly description: string
  readonly body: z.ZodType | null
  readonly headers: readonly ResponseHeader[]
}

/** The error code of a bad value of a parameter, where it is not `INVALID_PARAMETER`. */
export type ParameterCodes = Readonly<Record<string, PartnerErrorCode>>

interface Row {
  readonly operationId: string
  readonly method: "GET" | "POST"
  readonly path: `/v1/${string}`
  readonly tag: "Health" | "Tokens" | "Events" | "Campaigns" | "Digest" | "Webhooks" | "Drafts"
  readonly summary: string
  readonly description: string
  readonly auth: Auth
  /** True for what is published but not served. */
  readonly draft: boolean
  /** Path parameters; takes each as percent-decoded text. */
  readonly pathParameters: z.ZodObject
  /** Query parameters by wire name; takes what `rawQuery` gives, and refuses names it does not know. */
  readonly query: z.ZodObject
  readonly parameterCodes: ParameterCodes
  readonly headers: readonly RequestHeader[]
  readonly body: RequestBody | null
  readonly responses: Readonly<Record<number, ResponseRow>>
}

/** One row of the contract: all that is known of an operation before any code serves it. */
export type Operation = Row &
  (
    | { readonly envelope: "partner"; readonly errors: readonly PartnerErrorCode[] }
    | { readonly envelope: "legacy"; readonly errors: readonly LegacyErrorCode[] }
  )

/** What an operation is asked, decoded. */
export interface RequestOf<Op extends Operation> {
  readonly path: z.output<Op["pathParameters"]>
  readonly query: z.output<Op["query"]>
  readonly body: Op["body"] extends { readonly schema: infer Schema extends z.ZodType } ? z.output<Schema> : undefined
}

/** What a caller asks of an operation: values as they are decoded; what has a default may be left out. */
export interface CallOf<Op extends Operation> {
  readonly path: z.output<Op["pathParameters"]>
  readonly query: {
    readonly [Name in keyof z.input<Op["query"]>]: Name extends keyof z.output<Op["query"]>
      ? z.output<Op["query"]>[Name]
      : never
  }
  readonly body: Op["body"] extends { readonly schema: infer Schema extends z.ZodType } ? z.input<Schema> : undefined
}

/** The successful response of an operation: one of its statuses, with that status's body and headers. */
export type ResponseOf<Op extends Operation> = {
  [Status in keyof Op["responses"] & number]: Op["responses"][Status] extends {
    readonly body: infer Body
    readonly headers: readonly (infer Header)[]
  }
    ? {
        readonly status: Status
        readonly body: Body extends z.ZodType ? z.output<Body> : null
        readonly headers: Readonly<Record<Header & string, string>>
      }
    : never
}[keyof Op["responses"] & number]

/** The error codes that an operation can respond with. */
export type ErrorCodeOf<Op extends Operation> = Op["errors"][number]
