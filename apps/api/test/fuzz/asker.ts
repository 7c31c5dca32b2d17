import { Agent, request as httpRequest } from "node:http"
import { text } from "node:stream/consumers"
import { SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { Effect } from "effect"
import type { TestApi } from "../startApi.ts"
import type { FuzzAnswer } from "./complaints.ts"
import { type Bearer, type FuzzRequest, targetOf } from "./FuzzRequest.ts"

/** Requests that a key makes before another takes its place: fewer than a minute's 100. */
const USES = 95
/** Far more than an answer takes; past it, the server hangs. */
const PATIENCE_MS = 10_000

/** Creates the function that sends requests over kept connections, with keys that stay within their limit. */
export const makeAsker = async (api: TestApi, organizationId: OrganizationId) => {
  const agent = new Agent({ keepAlive: true })
  const revoked = await api.issue(organizationId, SCOPES)
  await api.run(Effect.flatMap(ApiKeyRepository, (keys) => keys.revoke(revoked.id)))
  const spent = await api.issue(organizationId, SCOPES)
  const pools = { good: { scopes: SCOPES, key: "", left: 0 }, scopeless: { scopes: [], key: "", left: 0 } }

  const keyOf = async (bearer: Exclude<Bearer, "none" | object>): Promise<string> => {
    if (bearer === "revoked") return revoked.text
    if (bearer === "spent") {
      await api.setCount(spent.id, 100)
      return spent.text
    }
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
          // Node would send a GET's body without saying how long it is.
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
