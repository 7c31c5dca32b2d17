import { seedCampaign } from "@outreach/postgres/test/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { handlers } from "../../src/handlers/handlers.ts"
import { startApi } from "../startApi.ts"
import { makeAsker } from "./asker.ts"
import { complaints } from "./complaints.ts"
import { documented } from "./document.ts"
import { curl, type FuzzRequest, targetOf } from "./FuzzRequest.ts"
import { type Existing, validRequest } from "./validRequest.ts"

/** How many requests of each kind an operation gets, and the seed to get them again. */
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 60)
const seed = process.env["FUZZ_SEED"] === undefined ? {} : { seed: Number(process.env["FUZZ_SEED"]) }
fc.configureGlobal({ numRuns, ...seed })

const api = startApi()
const served = Object.entries(handlers).flatMap(([id, handler]) => (handler === "not served" ? [] : id))
let ask: Awaited<ReturnType<typeof makeAsker>>
let existing: Existing
beforeAll(async () => {
  const { organization, campaign } = await api().run(seedCampaign({ recipients: 7 }))
  const rows = await api().run(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ token: string }>`select token from recipients`),
  )
  existing = { token: rows.map(({ token }) => token), id: [campaign.id] }
  ask = await makeAsker(api(), organization.id)
})

const printable = <Request extends FuzzRequest>(request: Request): Request =>
  Object.defineProperty(request, fc.toStringMethod, { value: () => curl(request) })

// A request that hangs fails by itself.
describe.each(documented)("$operationId", { timeout: 0 }, (operation) => {
  it("answers every request that the document calls valid, as the document says", async () => {
    await fc.assert(
      fc.asyncProperty(validRequest(operation, existing).map(printable), async (request) => {
        const answer = await ask(request)
        expect(complaints({ method: request.method, target: targetOf(request) }, answer, served)).toEqual([])
        expect(
          [200, 201, 304, 404, 501, ...("Idempotency-Key" in request.headers ? [409] : [])],
          answer.body,
        ).toContain(answer.status)
      }),
    )
  })
})
