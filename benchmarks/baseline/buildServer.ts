import { createHash, randomUUID } from "node:crypto"
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from "fastify"
import { type AuthenticatedKey, authenticateKey, LIMIT } from "./authenticateKey.ts"
import { Cursors } from "./Cursors.ts"
import type { Sql } from "./connect.ts"
import { eventsAfter, eventsSince } from "./events.ts"
import { badParameter, RequestError } from "./RequestError.ts"
import {
  findRecipient,
  recipientRecord,
  recipientsAfter,
  recipientsSince,
  type Summary,
  summariesOf,
} from "./recipients.ts"

declare module "fastify" {
  interface FastifyRequest {
    admission: AuthenticatedKey
  }
  interface FastifyContextConfig {
    scope?: string
  }
}

interface TokenQuery {
  readonly "expand[]": readonly ("campaign" | "program")[]
}

interface ListQuery extends TokenQuery {
  readonly since: string
  readonly cursor?: string
  readonly limit: number
}

const expansion = { type: "array", items: { enum: ["campaign", "program"] }, default: [] }
const tokenQuery = { type: "object", properties: { "expand[]": expansion }, additionalProperties: false }
const page = {
  since: { type: "string", format: "iso-date-time" },
  cursor: { type: "string", minLength: 1, maxLength: 2048 },
  limit: { type: "integer", minimum: 1, maximum: 500, default: 100 },
}
const listQuery = {
  type: "object",
  required: ["since"],
  properties: { ...page, "expand[]": expansion },
  additionalProperties: false,
}
const feedQuery = { type: "object", required: ["since"], properties: page, additionalProperties: false }
const tokenPath = { type: "object", properties: { token: { type: "string", pattern: "^[0-9A-Za-z]{6}$" } } }

/** Builds a server with the same requests and responses as the API's pull operations, in the style of Fastify's guides. */
export function buildServer(
  sql: Sql,
  options: { readonly cursorKey: Buffer; readonly docsUrl: string },
): FastifyInstance {
  const cursors = new Cursors(options.cursorKey)
  const app = Fastify({
    genReqId: () => `req_${randomUUID().replaceAll("-", "")}`,
    requestIdHeader: false,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: "array" } },
  })

  app.decorateRequest("admission")
  app.addHook("onRequest", async (request, reply) => {
    reply.header("X-Request-Id", request.id)
    const admission = await authenticateKey(sql, request.headers.authorization)
    request.admission = admission
    setWindow(reply, admission.count, admission.now)
    if (admission.count > LIMIT) {
      reply.header("Retry-After", String(60 - Math.floor(admission.now % 60)))
      throw new RequestError(429, "rate_limit_error", "RATE_LIMITED", "The key exceeded its rate limit.")
    }
    const { scope } = request.routeOptions.config
    if (scope !== undefined && !admission.scopes.includes(scope)) {
      throw new RequestError(403, "permission_error", "INSUFFICIENT_SCOPE", `The key lacks the scope ${scope}.`)
    }
  })

  app.setErrorHandler((error: FastifyError | RequestError, request, reply) => {
    const requestError = error instanceof RequestError ? error : toRequestError(error)
    const { type, code, message, parameter } = requestError
    if (request.admission === undefined) setWindow(reply, 0, Date.now() / 1000)
    if (requestError.statusCode === 401) reply.header("WWW-Authenticate", "Bearer")
    return reply.code(requestError.statusCode).send({
      error: {
        type,
        code,
        message,
        request_id: request.id,
        doc_url: `${options.docsUrl}/errors#${code}`,
        details: parameter === undefined ? null : { parameter },
      },
    })
  })

  app.get<{ Params: { token: string }; Querystring: TokenQuery }>(
    "/v1/partners/consumer/tokens/:token",
    { schema: { params: tokenPath, querystring: tokenQuery }, config: { scope: "tokens:read" } },
    async (request, reply) => {
      const { organizationId } = request.admission
      const [row] = await findRecipient(sql, organizationId, request.params.token)
      if (row === undefined) {
        throw new RequestError(404, "invalid_request_error", "TOKEN_NOT_FOUND", "There is no record for the token.")
      }
      const expand = request.query["expand[]"]
      const summaries = expand.length === 0 ? [] : await summariesOf(sql, organizationId, [row.service_campaign_id])
      const versions = expand.map((name) => summaries[0]?.[name === "program" ? "programUpdatedAt" : "updatedAt"])
      const version = [row.service_recipient_id, row.updated_at, ...expand, ...versions].join(" ")
      const etag = `"${createHash("sha256").update(version).digest("base64url").slice(0, 27)}"`
      reply.header("ETag", etag).header("Cache-Control", "private, max-age=10, must-revalidate")
      const known = request.headers["if-none-match"]
      if (
        known !== undefined &&
        (known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
      ) {
        return reply.code(304).send()
      }
      return recipientRecord(row, expand, summaries[0])
    },
  )

  app.get<{ Querystring: ListQuery }>(
    "/v1/partners/consumer/tokens",
    { schema: { querystring: listQuery }, config: { scope: "tokens:read" } },
    async (request) => {
      const { organizationId } = request.admission
      const { since, cursor, limit, "expand[]": expand } = request.query
      const scope = `tokens ${organizationId} ${since}`
      const rows = await (cursor === undefined
        ? recipientsSince(sql, organizationId, since, limit + 1)
        : recipientsAfter(sql, organizationId, cursors.decode(cursor, scope), limit + 1))
      const more = rows.length > limit
      if (more) rows.pop()
      const last = rows.at(-1)
      const summaries = new Map<string, Summary>()
      if (expand.length > 0) {
        const campaigns = [...new Set(rows.map((row) => row.service_campaign_id))]
        for (const summary of await summariesOf(sql, organizationId, campaigns)) summaries.set(summary.id, summary)
      }
      return {
        object: "list",
        livemode: false,
        data: rows.map((row) => recipientRecord(row, expand, summaries.get(row.service_campaign_id))),
        has_more: more,
        next_cursor:
          more && last ? cursors.encode({ at: last.updated_at, id: last.service_recipient_id }, scope) : null,
        url: request.url,
      }
    },
  )

  app.get<{ Querystring: Omit<ListQuery, "expand[]"> }>(
    "/v1/partners/consumer/events",
    { schema: { querystring: feedQuery }, config: { scope: "events:read" } },
    async (request) => {
      const { organizationId } = request.admission
      const { since, cursor, limit } = request.query
      const scope = `events ${organizationId} ${since}`
      const rows = await (cursor === undefined
        ? eventsSince(sql, organizationId, since, limit + 1)
        : eventsAfter(sql, organizationId, cursors.decode(cursor, scope), limit + 1))
      const more = rows.length > limit
      if (more) rows.pop()
      const last = rows.at(-1)
      return {
        object: "list",
        livemode: false,
        data: rows.map(({ body }) => JSON.parse(body)),
        has_more: more,
        next_cursor: more && last ? cursors.encode(last, scope) : null,
        url: request.url,
      }
    },
  )

  return app
}

function setWindow(reply: FastifyReply, count: number, now: number): void {
  reply
    .header("X-RateLimit-Limit", "100")
    .header("X-RateLimit-Remaining", String(Math.max(0, LIMIT - count)))
    .header("X-RateLimit-Reset", String((Math.floor(now / 60) + 1) * 60))
}

const toRequestError = (error: FastifyError): RequestError => {
  const issue = error.validation?.[0]
  if (issue === undefined)
    return new RequestError(500, "api_error", "INTERNAL_ERROR", "Something went wrong on our candidate.")
  if (issue.keyword === "required") {
    const parameter = String(issue.params["missingProperty"])
    return badParameter(parameter, "is required", "MISSING_PARAMETER")
  }
  const parameter = String(issue.params["additionalProperty"] ?? issue.instancePath.split("/")[1])
  const code =
    parameter === "token" ? "INVALID_TOKEN" : parameter === "expand[]" ? "INVALID_EXPAND" : "INVALID_PARAMETER"
  return badParameter(parameter, issue.message ?? "cannot be used", code)
}
