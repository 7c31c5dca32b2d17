/** Headers that belong to a status (RFC 9110, 15.5). All others describe the framework's own body. */
const STATUS_HEADER = /^(accept-\w+|allow|content-range|proxy-authenticate|retry-after|www-authenticate)$/i

/**
 * Reads the status (400–599) and its headers from an error of a framework, parser or validator. Returns undefined for all other values.
 *
 * A `status` isn't enough, because HTTP clients set it to the status of another service's response. Required is also one of: a
 * boolean `expose` (http-errors: Express, Koa), a `code` that starts with `FST_` (Fastify), `getResponse()` (Hono), or a
 * `SyntaxError` or `URIError` with the status 400 (parsers). Issues of a Standard Schema have the status 400.
 */
export function readFrameworkError(
  caught: unknown,
): { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | undefined {
  const error: Record<string, unknown> = Object(caught)
  const { name, code, expose, statusCode, status = statusCode, headers, res, getResponse, issues, arkErrors } = error
  if (hasIssues(issues) || hasIssues(arkErrors)) return { status: 400 }
  const isForClient =
    typeof expose === "boolean" ||
    typeof getResponse === "function" ||
    (typeof code === "string" && code.startsWith("FST_")) ||
    (error["status"] === 400 && (name === "SyntaxError" || name === "URIError"))
  if (!isForClient || typeof status !== "number" || !/^[45]\d\d$/.test(`${status}`)) return undefined
  const own = (res as { headers?: unknown } | undefined)?.headers ?? headers ?? {}
  const all = Symbol.iterator in Object(own) ? [...(own as Iterable<[string, string]>)] : Object.entries(own)
  return { status, headers: Object.fromEntries(all.filter(([header]) => STATUS_HEADER.test(header))) }
}

/** Returns whether a value is a list of Standard Schema issues. */
const hasIssues = (issues: unknown): boolean =>
  Array.isArray(issues) && issues.length > 0 && issues.every((issue) => typeof issue?.message === "string")
