import { Agent, request as httpRequest } from "node:http"
import { text } from "node:stream/consumers"
import { FEED_EVENT_TYPES, SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { checkAnswer } from "../ask.ts"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi, type TestApi } from "../startApi.ts"
import { documented } from "./document.ts"
import { type Bearer, type FuzzRequest, targetOf } from "./FuzzRequest.ts"
import { type Existing, validRequest } from "./validRequest.ts"
import { wildRequest } from "./wildRequest.ts"

const api = startApi(undefined, { UNAUTHENTICATED_LIMIT: "1000000" })
let ask: Awaited<ReturnType<typeof makeAsker>>
let existing: Existing
beforeAll(async () => {
  const { organization, campaign } = await api().seed(7)
  await api().run(publishOutcomes(campaign, [...FEED_EVENT_TYPES, ...FEED_EVENT_TYPES]))
  const rows = await api().run(sql<{ token: string }>`select token from recipients`)
  ask = await makeAsker(api(), organization.id)
  const firstPage = await ask({
    operation: documented.find(({ operationId }) => operationId === "listTokens")!,
    method: "GET",
    path: "/v1/partners/consumer/tokens",
    query: [
      ["since", "2026-01-01T00:00:00Z"],
      ["limit", "1"],
    ],
    headers: {},
    bearer: "good",
  })
  const cursor: string = JSON.parse(firstPage.body).next_cursor
  existing = { token: rows.map(({ token }) => token), id: [campaign.id], cursor: [cursor] }
})

/** Sends a request, and checks the response against the contract, the source of the document. */
const askChecked = async (request: FuzzRequest) => {
  const answer = await ask(request)
  expect(answer.status, answer.body).not.toBe(500)
  expect(answer.status, answer.body).not.toBe(503)
  const { status, headers, body } = answer
  checkAnswer({ status, headers, body: body === "" ? null : JSON.parse(body) }, request.method, targetOf(request))
  return answer
}

// A hanging request fails by its own limit.
describe.each(documented)("$operationId", { timeout: 0 }, (operation) => {
  // A draft responds to every request in the same way.
  const numRuns = propertyRuns(operation["x-draft"] ? 5 : 1)

  it("doesn't reject a request that the document defines as valid", async () => {
    await fc.assert(
      fc.asyncProperty(validRequest(operation, existing), async (request) => {
        const { status, body } = await askChecked(request)
        const meant = [200, 201, 304, 404, 501]
        // For a repeated key; the document can't describe signatures.
        if ("Idempotency-Key" in request.headers) meant.push(409)
        if ("webhookSignature" in (operation.security[0] ?? {})) meant.push(401)
        expect(meant, body).toContain(status)
      }),
      { numRuns },
    )
  })

  it("returns a documented response, never 500 or 503, for any request", async () => {
    await fc.assert(
      fc.asyncProperty(wildRequest(operation, existing), async (request) => {
        await askChecked(request)
      }),
      { numRuns },
    )
  })
})

/** Requests per key, fewer than the 100 per minute. */
const USES = 95
/** Far longer than a response takes; above it, the server hangs. */
const PATIENCE_MS = 60_000

interface FuzzAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Creates the function that sends requests over kept connections, with keys that stay within their limit. */
const makeAsker = async (api: TestApi, organizationId: OrganizationId) => {
  const agent = new Agent({ keepAlive: true })
  const revoked = await api.issue(organizationId, SCOPES)
  await api.run(Effect.flatMap(ApiKeyRepository, (keys) => keys.revoke(revoked.id)))
  const pools = { good: { scopes: SCOPES, key: "", left: 0 }, scopeless: { scopes: [], key: "", left: 0 } }

  const keyOf = async (bearer: Exclude<Bearer, "none" | object>): Promise<string> => {
    if (bearer === "revoked") return revoked.text
    const pool = pools[bearer]
    if (pool.left-- === 0) Object.assign(pool, { key: (await api.issue(organizationId, pool.scopes)).text, left: USES })
    return pool.key
  }

  return async (asked: FuzzRequest): Promise<FuzzAnswer> => {
    const { method, headers, bearer, body } = asked
    const authorization =
      typeof bearer === "object"
        ? bearer.authorization
        : bearer === "none"
          ? undefined
          : `Bearer ${await keyOf(bearer)}`
    return new Promise((resolve, reject) => {
      const sent = httpRequest(api.url + targetOf(asked), {
        agent,
        method,
        path: targetOf(asked),
        headers: {
          // Node would send a GET body without its length.
          ...(body !== undefined &&
            headers["Transfer-Encoding"] === undefined && { "Content-Length": Buffer.byteLength(body) }),
          ...headers,
          ...(authorization !== undefined && { Authorization: authorization }),
        },
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      sent.on("error", reject).on("response", (response) => {
        const fields = Object.entries(response.headersDistinct).map(([name, values]) => [name, values!.join(", ")])
        text(response).then(
          (body) =>
            resolve({ status: response.statusCode!, headers: new Headers(fields as Array<[string, string]>), body }),
          reject,
        )
      })
      sent.end(body)
    })
  }
}
