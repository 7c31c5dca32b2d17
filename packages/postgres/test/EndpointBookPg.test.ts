import { describe, expect, it } from "@effect/vitest"
import { OrganizationRegistry } from "@outreach/domain/callers/OrganizationRegistry"
import { EndpointBook } from "@outreach/domain/deliveries/EndpointBook"
import { makeIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

const run = runOnDatabase()

const create = Effect.fnUntraced(function* (organizationId: OrganizationId, eventTypes: ReadonlyArray<string> | null) {
  const id = yield* makeIdentifier("endpoint")
  return yield* (yield* EndpointBook).create({ organizationId, id, url: "https://partner.test/webhooks", eventTypes })
})

describe("EndpointBookPg", () => {
  it("keeps an endpoint enabled until it is disabled", () =>
    run(
      Effect.gen(function* () {
        const book = yield* EndpointBook
        const { id } = yield* (yield* OrganizationRegistry).create(yield* makeIdentifier("organization"), "Acme")
        const endpoint = yield* create(id, ["outreach.email_sent"])
        expect(endpoint).toMatchObject({ enabled: true, eventTypes: ["outreach.email_sent"] })
        expect(yield* book.list(id)).toEqual([endpoint])
        expect(yield* book.disable(endpoint.id)).toEqual({ ...endpoint, enabled: false })
        expect(yield* book.list(id)).toEqual([{ ...endpoint, enabled: false }])
      }),
    ))

  it("refuses ids that are nobody's", () =>
    run(
      Effect.gen(function* () {
        const endpointId = yield* makeIdentifier("endpoint")
        expect(yield* Effect.flip((yield* EndpointBook).disable(endpointId))).toMatchObject({
          _tag: "EndpointNotFound",
          endpointId,
        })
        expect(yield* Effect.flip(create(yield* makeIdentifier("organization"), null))).toMatchObject({
          _tag: "OrganizationNotFound",
        })
      }),
    ))

  it("gives an endpoint the events that it subscribes to, and lets a disabled one's wait", () =>
    run(
      Effect.gen(function* () {
        const { organization, endpoint: all, campaign } = yield* seedCampaign({ recipients: 0 })
        const sent = yield* create(organization.id, ["outreach.email_sent", "outreach.email_bounced"])
        const bounced = yield* create(organization.id, ["outreach.email_bounced"])
        yield* (yield* EndpointBook).disable(sent.id)
        const [eventId] = yield* publishSent(campaign, 1)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ endpoint_id: string }>`
          select endpoint_id from deliveries where event_id = ${eventId!} order by endpoint_id`
        expect(rows.map((row) => row.endpoint_id)).toEqual([all.id, sent.id])
        expect(rows.map((row) => row.endpoint_id)).not.toContain(bounced.id)
      }),
    ))
})
