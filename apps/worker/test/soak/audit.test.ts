import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect, Redacted, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { whileDelivering } from "../deliveries/receiver.ts"
import { audit, type Route } from "./audit.ts"
import { type Partner, startPartner } from "./startPartner.ts"

const run = runOnDatabase()

/** Delivers three events, each with a separate history row, for tampering. */
const deliverThree = Effect.gen(function* () {
  const partner = yield* Effect.promise(() => startPartner("fast", { callMs: 1000 }))
  const { campaign, organization, endpoint, secret } = yield* seedCampaign({ recipients: 0, endpointUrl: partner.url })
  partner.trust(Redacted.value(secret))
  const published = yield* publishTogether(campaign, 3)
  const delivered = sql`
    select from delivered cross join json_array_elements(deliveries) where endpoint_id = ${endpoint.id}`.pipe(
    Effect.repeat({ until: ({ length }) => length === 3, schedule: Schedule.spaced("20 millis") }),
  )
  yield* whileDelivering(delivered)
  yield* sql`
    with batch as (delete from delivered where deliveries is not null returning *)
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
    select organization_id, each->>'id', endpoint_id, each->>'eventId', jsonb_build_array(each->'attempt'), finished_at
    from batch cross join json_array_elements(deliveries) each`
  return { partner, organizationId: organization.id, endpointId: endpoint.id, published } satisfies Route
})

let route: Effect.Success<typeof deliverThree>
beforeAll(async () => {
  route = await run(deliverThree)
})
afterAll(() => route.partner.close())

/** Tampers with the records, returns the audit's findings, and undoes the change. */
const findingsAfter = (tamper: (partner: Partner) => Effect.Effect<unknown, unknown, SqlClient.SqlClient>) =>
  run(function* () {
    const partner: Partner = { ...route.partner, seen: structuredClone(route.partner.seen) as Partner["seen"] }
    let found: ReadonlyArray<string> | undefined
    const undone = Effect.gen(function* () {
      yield* tamper(partner)
      found = (yield* audit([{ ...route, partner }], { maxAttempts: 2 })).findings
      return yield* Effect.fail("undo")
    })
    yield* Effect.ignore(inTransaction(undone))
    route.partner.faults.length = 0
    return found!.join("\n")
  })

const anySeen = ({ seen }: Partner) => seen.entries().next().value!
const LAST = sql.literal("(select id from delivered order by finished_at desc limit 1)")

describe("the audit of a soak", () => {
  it("reports no findings for a correct run", async () => {
    expect(await findingsAfter(() => Effect.void)).toBe("")
  })

  it.each<[string, RegExp, Parameters<typeof findingsAfter>[0]]>([
    ["an event without an outcome", /3 events, 2 outcomes/, () => sql`delete from delivered where id = ${LAST}`],
    [
      "an event that is gone",
      /an event is gone/,
      () => sql`delete from events where id = (select event_id from delivered where id = ${LAST})`,
    ],
    [
      "a delivery that is left behind",
      /left behind/,
      () => sql`
        insert into deliveries (organization_id, endpoint_id, event_id, due_at)
        select organization_id, endpoint_id, event_id, 'infinity' from delivered where id = ${LAST}`,
    ],
    [
      "an event with two outcomes",
      /two outcomes/,
      () => sql`
        insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
        select organization_id, id || 'x', endpoint_id, event_id, attempts, created_at from delivered where id = ${LAST}`,
    ],
    [
      "a dead letter whose attempts are not spent",
      /exhausted, though its partner accepts.*exhausted, at 1 attempts/s,
      () => sql`
        with dead as (delete from delivered where id = ${LAST} returning *)
        insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at)
        select organization_id, id, endpoint_id, event_id, 'exhausted', attempts, 'fgr_', created_at from dead`,
    ],
    [
      "an attempt that is not on record",
      /attempt 1 came 1 times, and is on record 0 times/,
      () => sql`update delivered set attempts = '[]' where id = ${LAST}`,
    ],
    [
      "an arrival that never was",
      /never arrived/,
      (partner) => Effect.sync(() => partner.seen.delete(anySeen(partner)[0])),
    ],
    [
      "a request that no lost lease explains",
      /attempt 1 came 2 times, and is on record 1 times/,
      (partner) => Effect.sync(() => anySeen(partner)[1].requests.set(1, 2)),
    ],
    [
      "a signature that does not verify",
      /does not verify/,
      (partner) =>
        Effect.promise(() => fetch(partner.url, { method: "POST", headers: { "X-Signature": "t=1,v1=00" } })),
    ],
  ])("finds %s", async (_, finding, tamper) => {
    expect(await findingsAfter(tamper)).toMatch(finding)
  })
})
