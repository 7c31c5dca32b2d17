import { cursorKeyRing } from "@outreach/cursor"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { Timestamp } from "@outreach/domain/Timestamp"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Tracer } from "effect"
import { expect, it } from "vitest"
import { ApiConfig } from "../../src/ApiConfig.ts"
import { listEvents } from "../../src/handlers/events.ts"
import { listCampaignRecipients, listTokens } from "../../src/handlers/tokens.ts"
import { publishOutcomes } from "./publishOutcomes.ts"

const databaseUrl = migratedDatabase()

/** Counts the statements of a request by the driver's spans. */
const counting = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    },
  })
  yield* Effect.withTracer(effect, tracer)
  return spans.filter(({ attributes }) => attributes.has("db.query.text")).length
})

const since = Timestamp.make("2026-01-01T00:00:00.000000Z")
const config = { cursorKey: cursorKeyRing([{ key: Buffer.alloc(32, 1) }]) } as unknown as typeof ApiConfig.Service

it("reads a full page and each thing expanded in one statement, however many rows there are, and a last page with the clock", () =>
  Effect.gen(function* () {
    const counts: Array<ReadonlyArray<number>> = []
    for (const rows of [2, 40]) {
      const { organization, campaign } = yield* seedCampaign({ recipients: rows })
      yield* publishOutcomes(campaign, Array<"outreach.email_sent">(rows).fill("outreach.email_sent"))
      const { key } = yield* issueKey({ organizationId: organization.id, name: "test", scopes: [], expiresAt: null })
      const asked = { caller: { keyId: key.id, organizationId: organization.id, scopes: [] }, headers: {}, url: "/" }
      const query = { since, limit: rows - 1, "types[]": [] }
      const all = ["campaign", "program"] as const
      counts.push([
        yield* counting(listTokens({ ...asked, path: {}, query: { ...query, "expand[]": [] } } as never)),
        yield* counting(listTokens({ ...asked, path: {}, query: { ...query, "expand[]": all } } as never)),
        yield* counting(
          listCampaignRecipients({
            ...asked,
            path: { id: campaign.id },
            query: { ...query, "expand[]": all },
          } as never),
        ),
        yield* counting(listEvents({ ...asked, query: { ...query, "expand[]": [] } } as never)),
        yield* counting(listEvents({ ...asked, query: { ...query, "expand[]": [...all, "recipient"] } } as never)),
        yield* counting(listEvents({ ...asked, query: { ...query, limit: rows, "expand[]": [] } } as never)),
      ])
    }
    expect(counts[0]).toEqual([1, 2, 2, 1, 3, 2])
    expect(counts[1]).toEqual(counts[0])
  }).pipe(
    Effect.provideService(ApiConfig, config),
    (effect) => Effect.provide(effect, adaptersFor(databaseUrl())),
    Effect.runPromise,
  ))
