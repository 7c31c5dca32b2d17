import { Agent } from "node:http"
import { FEED_EVENT_TYPES, SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeys"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi, type TestApi } from "../startApi.ts"
import { documented } from "./document.ts"
import { type Bearer, type FuzzRequest, targetOf } from "./FuzzRequest.ts"
import { type Existing, validRequest } from "./validRequest.ts"
import { wildRequest } from "./wildRequest.ts"

const api = startApi(undefined, { UNAUTHENTICATED_LIMIT: "1000000" })
let send: Awaited<ReturnType<typeof makeAsker>>
let existing: Existing
beforeAll(async () => {
  const { organization, campaign } = await api().seed(7)
  await api().run(publishOutcomes(campaign, [...FEED_EVENT_TYPES, ...FEED_EVENT_TYPES]))
  const rows = await api().run(sql<{ token: string }>`select token from recipients`)
  send = await makeAsker(api(), organization.id)
  const { text: key } = await api().issue(organization.id, SCOPES)
  const { body } = await ask(api(), "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z&limit=1", { key })
  const cursor: string = body.next_cursor
  existing = { token: rows.map(({ token }) => token), id: [campaign.id], cursor: [cursor] }
})

/** Sends a request, whose response is checked against the contract, the source of the document. */
const askChecked = async (request: FuzzRequest) => {
  const { status, body } = await send(request)
  expect([500, 503], JSON.stringify(body)).not.toContain(status)
  return { status, body }
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
        expect(meant, JSON.stringify(body)).toContain(status)
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

/** Creates the function that sends requests over kept connections, with keys that stay within their limit. */
const makeAsker = async (api: TestApi, organizationId: OrganizationId) => {
  const agent = new Agent({ keepAlive: true })
  const revoked = await api.issue(organizationId, SCOPES)
  await api.run(Effect.flatMap(ApiKeyRepository, (keys) => keys.revoke(revoked.id)))
  const pools = { good: { scopes: SCOPES, key: "", left: 0 }, scopeless: { scopes: [], key: "", left: 0 } }

  const keyOf = async (bearer: Exclude<Bearer, object>): Promise<string> => {
    if (bearer === "revoked" || bearer === "none") return revoked.text
    const pool = pools[bearer]
    if (pool.left-- === 0) Object.assign(pool, { key: (await api.issue(organizationId, pool.scopes)).text, left: USES })
    return pool.key
  }

  return async (asked: FuzzRequest): Promise<Answer> => {
    const { method, bearer, body } = asked
    const authorization = typeof bearer === "object" ? bearer.authorization : `Bearer ${await keyOf(bearer)}`
    const headers = { ...asked.headers, ...(bearer !== "none" && { Authorization: authorization }) }
    const signal = AbortSignal.timeout(PATIENCE_MS)
    return ask(api, targetOf(asked), { agent, method, headers, ...(body !== undefined && { body }), signal })
  }
}
