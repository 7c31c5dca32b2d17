import type { Envelope } from "./Envelope.ts"
import type { ErrorCodes, ErrorTypes, Retry } from "./ErrorCodes.ts"
import { type OutputOf, type StandardSchema, validate } from "./StandardSchema.ts"

/** The parts of a response that `parse` uses in addition to the body. A Fetch `Response` has them. */
export interface ResponseHead {
  readonly status: number
  readonly headers: { get(name: string): string | null | undefined }
}

/** A parsed error: one case for each code of the catalog, one for unknown codes, and one for bodies of other services. */
export type ParsedError<Codes extends ErrorCodes, Context extends object = object> = (
  | { [Code in keyof Codes & string]: KnownError<Code, Codes[Code]> }[keyof Codes & string]
  | UnknownError
  | ForeignBody
) &
  Wait &
  Readonly<Partial<Context>>

/** Whether and when the same request may be retried; in seconds. */
type Wait =
  | { readonly retry: "after"; readonly retryAfter: number }
  | { readonly retry: "no" | "backoff"; readonly retryAfter: number | null }

interface KnownError<Code, Row> {
  readonly code: Code
  readonly unknownCode: null
  readonly type: Row extends { readonly type: infer Type } ? Type : never
  readonly status: number
  readonly message: string
  readonly details: Row extends { readonly details: infer Schema extends StandardSchema }
    ? OutputOf<Schema>
    : Readonly<Record<string, unknown>> | null
  readonly docUrl: string | null
}

/** An unknown code, or a code whose details don't match its schema. */
interface UnknownError {
  readonly code: null
  /** The received code. */
  readonly unknownCode: string
  readonly type: string | null
  readonly status: number | null
  readonly message: string | null
  readonly details: Readonly<Record<string, unknown>> | null
  readonly docUrl: string | null
}

/** A body that isn't an error of this service, such as a proxy's page. */
type ForeignBody = { readonly [Name in Exclude<keyof UnknownError, "status">]: null } & Pick<UnknownError, "status">

/** Longer text isn't parsed. */
const MAX_TEXT = 1_000_000

/** Parses the body of an error response. */
export function parse<Context extends object>(
  { types, codes, envelope }: { types: ErrorTypes; codes: ErrorCodes; envelope: Pick<Envelope<Context>, "read"> },
  body: unknown,
  response?: ResponseHead,
): object {
  const object = typeof body === "string" ? jsonOf(body) : body
  const said = (isRecord(object) && envelope.read(object)) || {}
  const code = textOf(said.code)
  const row = code !== null && Object.hasOwn(codes, code) ? codes[code]! : undefined
  const status = response?.status ?? (typeof said.status === "number" ? said.status : (row?.status ?? null))
  const type = row?.type ?? textOf(said.type)
  const retryAfter =
    secondsOf(response?.headers.get("Retry-After"), response?.headers.get("Date")) ?? secondsOf(said.retryAfter)
  const retry = type === null || !Object.hasOwn(types, type) ? retryOf(status ?? 0) : types[type]!.retry
  const result = row?.details && validate(row.details, said.details)
  const isKnown = row !== undefined && !result?.issues
  return {
    ...said.context,
    code: isKnown ? code : null,
    unknownCode: isKnown ? null : code,
    type,
    status,
    message: textOf(said.message) ?? row?.title ?? null,
    details: isKnown && result ? result.value : isRecord(said.details) ? said.details : null,
    docUrl: textOf(said.docUrl),
    retry: retry === "after" && retryAfter === null ? "backoff" : retry,
    retryAfter,
  }
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function jsonOf(text: string): unknown {
  try {
    return text.length > MAX_TEXT ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the retry rule for a status without a known code. */
const retryOf = (status: number): Retry =>
  status === 429 || status === 503 ? "after" : status >= 500 && status !== 501 ? "backoff" : "no"

/** Parses `Retry-After`: seconds, or an HTTP date relative to the response's own `Date`, because clocks differ. */
function secondsOf(value: unknown, date?: string | null): number | null {
  if ((typeof value !== "string" && typeof value !== "number") || value === "") return null
  const seconds = Number.isNaN(Number(value))
    ? Math.max(0, (timeOf(`${value}`) - timeOf(date ?? "")) / 1000)
    : Number(value)
  return seconds >= 0 && Number.isFinite(seconds) ? seconds : null
}

// Date.parse reads "soon-5" as a month. One of the three date forms of RFC 9110, 5.6.7 has no zone; it is UTC.
const timeOf = (text: string): number =>
  /^[SMTWF].+:\d\d/.test(text) ? Date.parse(text.endsWith("GMT") ? text : `${text} GMT`) : Number.NaN
