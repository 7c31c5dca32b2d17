import { describe, expect, it } from "@effect/vitest"
import { DeliveryGauges } from "@outreach/domain/deliveries/DeliveryGauges"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishSent } from "./publishSent.ts"
import { receiveEvent } from "./receiveEvent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"
import { seedDeadLetters } from "./seedDeadLetters.ts"
import { whileOpen } from "./whileOpen.ts"

const run = runOnDatabase()
const readDue = Effect.flatMap(DeliveryGauges, (gauges) => gauges.readDue)
const readState = Effect.flatMap(DeliveryGauges, (gauges) => gauges.readState)
const none = { count: 0, oldestSeconds: 0 }

/** Seeds an endpoint with deliveries that fell due so many seconds ago */
const seedDue = Effect.fnUntraced(function* (count: number, secondsAgo: number) {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedCampaign({ recipients: 0 })
  yield* publishSent(seeded.campaign, count)
  yield* sql`
    update deliveries set due_at = clock_timestamp() - make_interval(secs => ${secondsAgo}::int)
    where endpoint_id = ${seeded.endpoint.id}`
  return seeded
})

describe("DeliveryGaugesPg", () => {
  it("reads zeros from an empty database", () =>
    run(
      Effect.gen(function* () {
        expect(yield* readDue).toEqual({
          deliveries: { live: none, probed: none, replay: none },
          messages: none,
          inbox: none,
          hits: none,
          unsubscriptions: none,
        })
        expect(yield* readState).toMatchObject({
          inFlight: 0,
          breakersOpen: 0,
          deadLetters: { rejected: 0, exhausted: 0, poison: 0 },
          horizon: {
            replication_slot: { transactions: 0, seconds: 0 },
            prepared_transaction: { transactions: 0, seconds: 0 },
          },
        })
      }),
    ))

  it("tells apart what waits for its turn, for an endpoint that fails, and as a replay", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* seedDue(3, 100)
        const probed = yield* seedDue(2, 500)
        const replayed = yield* seedDue(4, 900)
        const disabled = yield* seedDue(5, 3000)
        const retried = yield* seedDue(6, -3600)
        const held = yield* seedDue(7, 4000)
        yield* sql`insert into endpoint_breakers values (${probed.endpoint.id}, 7, 1, clock_timestamp())`
        // Has failed, but not often enough to be probed.
        yield* sql`insert into endpoint_breakers values (${retried.endpoint.id}, 2, null, clock_timestamp())`
        yield* sql`update deliveries set replay = true where endpoint_id = ${replayed.endpoint.id}`
        yield* sql`update webhook_endpoints set enabled = false where id = ${disabled.endpoint.id}`
        yield* sql`
          update deliveries set lease_until = clock_timestamp() + interval '1 minute' where endpoint_id = ${held.endpoint.id}`

        const { deliveries: due } = yield* readDue
        const { inFlight, breakersOpen } = yield* readState
        expect([due.live.count, due.probed.count, due.replay.count]).toEqual([3, 2, 4])
        expect(due.live.oldestSeconds).toBeGreaterThanOrEqual(100)
        expect(due.live.oldestSeconds).toBeLessThan(500)
        expect(due.probed.oldestSeconds).toBeGreaterThanOrEqual(500)
        expect(due.probed.oldestSeconds).toBeLessThan(900)
        expect(due.replay.oldestSeconds).toBeGreaterThanOrEqual(900)
        expect([inFlight, breakersOpen]).toEqual([7, 1])
      }),
    ))

  it("counts the dead letters that were not replayed, by reason", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* seedDeadLetters(3, { reason: "rejected" })
        yield* seedDeadLetters(2, { reason: "poison" })
        const replayed = yield* seedDeadLetters(1, { reason: "rejected" })
        yield* sql`update dead_letters set replayed_as = make_id('dlv') where endpoint_id = ${replayed.endpoint.id}`
        expect((yield* readState).deadLetters).toEqual({ rejected: 3, exhausted: 0, poison: 2 })
      }),
    ))

  it("counts the e-mails of the campaigns whose window is open", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [open, scheduled] = [yield* seedCampaign({ recipients: 3 }), yield* seedCampaign({ recipients: 5 })]
        for (const { organization, campaign } of [open, scheduled]) {
          yield* sql`
            insert into messages (organization_id, recipient_id, campaign_id, due_at)
            select organization_id, id, ${campaign.id}, clock_timestamp() - interval '50 seconds' from recipients
            where organization_id = ${organization.id}`
        }
        yield* sql`update campaigns set status = 'sending' where id = ${open.campaign.id}`
        const { messages } = yield* readDue
        expect(messages.count).toBe(3)
        expect(messages.oldestSeconds).toBeGreaterThanOrEqual(50)
      }),
    ))

  it("counts hits that wait to be judged, and unsubscriptions that are no suppressions yet", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { organization } = yield* seedCampaign({ recipients: 4 })
        yield* sql`
          with recipient as (
            select *, row_number() over (order by id) = 1 as over from recipients where organization_id = ${organization.id}
          ), unsubscribed as (
            insert into unsubscriptions (organization_id, recipient_id, asked_at, suppressed_at)
            select organization_id, id, clock_timestamp() - interval '5 seconds', case when over then clock_timestamp() end
            from recipient
          )
          insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
          select organization_id, 'hit_' || id, id, 'open', 'GET', '', '{}', clock_timestamp() - interval '70 seconds',
            case when over then clock_timestamp() end, case when over then array[]::text[] end
          from recipient`
        const { hits, unsubscriptions } = yield* readDue
        expect([hits.count, unsubscriptions.count]).toEqual([3, 3])
        expect(hits.oldestSeconds).toBeGreaterThanOrEqual(70)
        expect(unsubscriptions.oldestSeconds).toBeGreaterThanOrEqual(5)
        expect(unsubscriptions.oldestSeconds).toBeLessThan(70)
      }),
    ))

  it("counts the inbound events that wait, and those that were set aside", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const seeded = yield* seedCampaign({ recipients: 0 })
        for (const id of ["evt_1", "evt_2", "evt_3", "evt_4"]) yield* receiveEvent(seeded, id, "clinician.moved", {})
        yield* sql`update inbox set received_at = clock_timestamp() - interval '70 seconds'`
        yield* sql`update inbox set set_aside_at = clock_timestamp(), reason = 'no reason' where event_id = 'evt_1'`
        yield* sql`update inbox set applied_at = clock_timestamp() where event_id = 'evt_2'`
        const { inbox } = yield* readDue
        expect(inbox.count).toBe(2)
        expect(inbox.oldestSeconds).toBeGreaterThanOrEqual(70)
        expect((yield* readState).inboxSetAside).toBe(1)
      }),
    ))

  it("shows a transaction that stays open, and for how long", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const before = (yield* readState).horizon.session
        expect(before.transactions).toBeLessThan(50)
        const during = yield* whileOpen(
          Effect.andThen(sql`set transaction isolation level repeatable read`, sql`select count(*) from organizations`),
          () =>
            Effect.gen(function* () {
              yield* Effect.forEach(Array.from({ length: 60 }), () => sql`select pg_current_xact_id()::text`)
              return (yield* readState).horizon.session
            }),
        )
        expect(during.transactions).toBeGreaterThanOrEqual(60)
        expect(during.seconds).toBeGreaterThan(0)
      }),
    ))
})
