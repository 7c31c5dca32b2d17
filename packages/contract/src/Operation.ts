import type * as z from "zod"
import type { LegacyErrorCode, PartnerErrorCode } from "./catalogs.ts"
import type { Scope } from "./names.ts"

/** Authentication of an operation: none, bearer key, bearer key with a scope, or webhook signature. */
export type Auth =
  | { readonly kind: "none" }
  | { readonly kind: "bearer" }
  | { readonly kind: "scope"; readonly scope: Scope }
  | { readonly kind: "signature" }

/** A request header that an operation reads, in addition to its credential. */
export type RequestHeader = "If-None-Match" | "Idempotency-Key"

/** A response header that an operation sets, in addition to the common ones. */
export type ResponseHeader = "ETag" | "Cache-Control"

/** A JSON request body and its maximum size in bytes. */
export interface RequestBody {
  readonly schema: z.ZodType
  readonly maxBytes: number
}

/** A successful response; `body` is null if there is none. */
export interface ResponseRow {
  readonly description: string
  readonly body: z.ZodType | null
  readonly headers: readonly ResponseHeader[]
}

/** Error code for an invalid parameter, if it isn't `INVALID_PARAMETER`. */
export type ParameterCodes = Readonly<Record<string, PartnerErrorCode>>

interface Row {
  readonly operationId: string
  readonly method: "GET" | "POST"
  readonly path: `/v1/${string}`
  readonly tag: "Health" | "Tokens" | "Events" | "Campaigns" | "Digest" | "Webhooks" | "Drafts"
  readonly summary: string
  readonly description: string
  readonly auth: Auth
  /** True for an operation that is published but not served. */
  readonly draft: boolean
  /** Path parameters as percent-decoded text. */
  readonly pathParameters: z.ZodObject
  /** Query parameters by wire name. Accepts the output of `rawQuery` and rejects unknown names. */
  readonly query: z.ZodObject
  readonly parameterCodes: ParameterCodes
  readonly headers: readonly RequestHeader[]
  readonly body: RequestBody | null
  readonly responses: Readonly<Record<number, ResponseRow>>
}

/** One row of the contract: everything about an operation except its implementation. */
export type Operation = Row &
  (
    | { readonly envelope: "partner"; readonly errors: readonly PartnerErrorCode[] }
    | { readonly envelope: "legacy"; readonly errors: readonly LegacyErrorCode[] }
  )

/** Decoded request of an operation. */
export interface RequestOf<Op extends Operation> {
  readonly path: z.output<Op["pathParameters"]>
  readonly query: z.output<Op["query"]>
  readonly body: Op["body"] extends { readonly schema: infer Schema extends z.ZodType } ? z.output<Schema> : undefined
}

/** Arguments of a call: decoded values; parameters with defaults are optional. */
export interface CallOf<Op extends Operation> {
  readonly path: z.output<Op["pathParameters"]>
  readonly query: {
    readonly [Name in keyof z.input<Op["query"]>]: Name extends keyof z.output<Op["query"]>
      ? z.output<Op["query"]>[Name]
      : never
  }
  readonly body: Op["body"] extends { readonly schema: infer Schema extends z.ZodType } ? z.input<Schema> : undefined
}

/** Successful response of an operation: a status with its body and headers. */
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

/** The error codes that an operation can return. */
export type ErrorCodeOf<Op extends Operation> = Op["errors"][number]
