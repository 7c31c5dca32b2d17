/**
 * Reads the status (400–599) that an error of a framework, parser or validator has for the client. Returns undefined for all other values.
 *
 * A `status` isn't enough, because HTTP clients set it to the status of another service's response. Required is also one of: a
 * boolean `expose` (http-errors: Express, Koa), a `code` that starts with `FST_` (Fastify), `getResponse()` (Hono), or a
 * `SyntaxError` or `URIError` with the status 400 (parsers). Issues of a Standard Schema have the status 400.
 */
export function readClientStatus(caught: unknown): number | undefined {
  const error: Record<string, unknown> = Object(caught)
  const { name, code, expose, statusCode, status = statusCode, getResponse, issues, arkErrors } = error
  const [issue] = [issues, arkErrors].flatMap((list) => (Array.isArray(list) ? list : []))
  if (typeof issue?.message === "string") return 400
  const isForClient =
    typeof expose === "boolean" ||
    typeof getResponse === "function" ||
    (typeof code === "string" && code.startsWith("FST_")) ||
    (error["status"] === 400 && (name === "SyntaxError" || name === "URIError"))
  return isForClient && typeof status === "number" && /^[45]\d\d$/.test(`${status}`) ? status : undefined
}
