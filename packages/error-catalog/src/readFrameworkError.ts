/** A framework's status for the client, 400–599, and the headers that belong to it. */
export interface FrameworkError {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Headers that belong to a status (RFC 9110, 15.5). All others describe the framework's own body. */
const STATUS_HEADER = /^(accept-\w+|allow|content-range|proxy-authenticate|retry-after|www-authenticate)$/i

/**
 * Reads the status of an error that a framework or a validator created because of the client's request. Returns undefined for all other values.
 *
 * A `status` isn't enough, because HTTP clients set it to the status of another service's response. Required is also one of: a
 * boolean `expose` (http-errors: Express, Koa), a `code` that starts with `FST_` (Fastify), `getResponse()` (Hono), or a
 * `SyntaxError` or `URIError` with the status 400 (parsers). Issues of a Standard Schema have the status 400.
 */
export function readFrameworkError(caught: unknown): FrameworkError | undefined {
  if (typeof caught !== "object" || caught === null) return undefined
  const error = caught as Foreign
  if (hasIssues(error.issues) || hasIssues(error.arkErrors)) return { status: 400 }
  const status = error.status ?? error.statusCode
  if (typeof status !== "number" || !/^[45]\d\d$/.test(`${status}`) || !isForClient(error)) return undefined
  const headers = (error.res?.headers ?? error.headers ?? {}) as Iterable<[string, string]> | Record<string, string>
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers)
  return { status, headers: Object.fromEntries(entries.filter(([name]) => STATUS_HEADER.test(name))) }
}

type Foreign = { readonly [Name in Property]?: unknown } & { readonly res?: { readonly headers?: unknown } }
type Property =
  | "name"
  | "code"
  | "expose"
  | "status"
  | "statusCode"
  | "headers"
  | "getResponse"
  | "issues"
  | "arkErrors"

const isForClient = ({ name, code, expose, status, getResponse }: Foreign): boolean =>
  typeof expose === "boolean" ||
  typeof getResponse === "function" ||
  (typeof code === "string" && code.startsWith("FST_")) ||
  (status === 400 && (name === "SyntaxError" || name === "URIError"))

/** Returns whether a value is a non-empty list of Standard Schema issues. */
const hasIssues = (issues: unknown): boolean =>
  Array.isArray(issues) && issues.length > 0 && issues.every((issue) => typeof issue?.message === "string")
