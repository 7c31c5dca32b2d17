import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect } from "@effect/vitest"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/Unsubscriptions"
import { type Hint, Hints, TOPICS } from "@outreach/postgres/events/Hints"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { column, inTransaction, sql } from "@outreach/testing/sql"
import { asRole } from "@outreach/testing/testRoles"
import { Context, Deferred, Effect, Fiber, Layer, Queue, Schedule } from "effect"

const url = migratedDatabase()
const { test } = testsOnDatabase({ url })
const organization = (n: number) => `org_${String(n).padStart(32, "0")}` as OrganizationId

/** Listens for notifications, as text. */
const listen = Effect.gen(function* () {
  const notifications = yield* (yield* PgClient.PgClient).listen("hints")
  return Effect.map(Queue.take(notifications), ({ payload }) => payload)
})
/** Reads notifications up to the one that contains a text. */
const until = Effect.fnUntraced(function* (next: Effect.Effect<string, unknown>, text: string) {
  const received: Array<string> = []
  while (!received.some((payload) => payload.includes(text))) received.push(yield* next)
  return received
})

describe("hints", () => {
  test("are sent after the commit of their transaction, and not after a rollback", function* () {
    const { give } = yield* Hints
    const next = yield* listen
    const hinted = (n: number) => inTransaction(give("events", organization(n)))
    yield* Effect.exit(inTransaction(Effect.andThen(give("events", organization(1)), Effect.fail("rolled back"))))
    const [mayCommit, hasHinted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const slow = yield* give("events", organization(2)).pipe(
      Effect.andThen(Deferred.succeed(hasHinted, undefined)),
      Effect.andThen(Deferred.await(mayCommit)),
      inTransaction,
      Effect.forkChild,
    )
    yield* Deferred.await(hasHinted)
    yield* hinted(3)
    expect((yield* until(next, organization(3))).join()).toBe(`events ${organization(3)}`)
    yield* Deferred.succeed(mayCommit, undefined)
    yield* Fiber.join(slow)
    expect((yield* until(next, organization(2))).join()).toBe(`events ${organization(2)}`)
  })

  test("share a notification if they are concurrent, and cover all organizations if there are too many", function* () {
    const { give } = yield* Hints
    const next = yield* listen
    yield* give("events", organization(10))
    // While the first is being sent, and for a moment afterwards, the next ones are collected.
    for (let n = 11; n < 40; n++) yield* give("due", organization(n))
    const few = yield* until(next, organization(39))
    expect(few.length).toBeLessThanOrEqual(2)
    for (let n = 1000; n < 2000; n++) yield* give("inbox", organization(n))
    yield* give("messages", organization(1))
    expect(yield* until(next, "messages")).toContainEqual("inbox,messages")
  })

  test("are sent again after a failure", function* () {
    const next = yield* listen
    const { give } = Context.get(yield* Layer.build(Layer.fresh(adaptersFor(asRole(url(), "api")))), Hints)
    yield* sql`revoke execute on function pg_notify from public`
    yield* give("events", organization(50))
    yield* sql`
      select from pg_stat_activity
      where datname = current_database() and usename = 'outreach_test_api' and query like '%pg_notify%' and state = 'idle'`.pipe(
      Effect.repeat({ until: ({ length }) => length > 0, schedule: Schedule.spaced("10 millis") }),
    )
    yield* sql`grant execute on function pg_notify to public`
    yield* until(next, organization(50))
  })

  test("are received with their topic and organization, after one for each topic at the start", function* () {
    const { checkEveryMs, give, listen } = yield* Hints
    expect(checkEveryMs()).toBe(1000)
    const received = yield* Queue.unbounded<Hint>()
    yield* Effect.forkScoped(listen((hint) => Queue.offer(received, hint)))
    const atFirst = yield* Effect.forEach(TOPICS, () => Queue.take(received))
    expect(atFirst).toEqual(TOPICS.map((topic) => ({ topic, organizationId: null })))
    const wanted = { topic: "inbox", organizationId: organization(7) }
    // Hints from before the connection aren't received.
    const given = yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(give("inbox", organization(7)), Effect.sleep("20 millis"))),
    )
    let hint = yield* Queue.take(received)
    while (hint.organizationId === null) hint = yield* Queue.take(received)
    yield* Fiber.interrupt(given)
    expect(hint).toEqual(wanted)
    expect(checkEveryMs()).toBe(30_000)
  })

  test("are sent by commands for campaigns and requests to unsubscribe", function* () {
    const { campaign, organization } = yield* seedCampaign({ recipients: 1 })
    const next = yield* listen
    yield* commandCampaign(campaign.id, "cancel")
    yield* until(next, "campaigns")
    const [recipientId] = yield* column<RecipientId>`select id from recipients where campaign_id = ${campaign.id}`
    yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId: recipientId! })
    yield* until(next, `suppressions ${organization.id}`)
  })

  test("are sent by every publication, without a notification lock in its transaction", function* () {
    const { campaign, organization } = yield* seedCampaign({ recipients: 0 })
    const next = yield* listen
    yield* publishSent(campaign, 1)
    yield* until(next, `events ${organization.id}`)
    const functions = yield* column`
      select proname as name from pg_proc
      where pronamespace = 'public'::regnamespace and prosrc ~ '(pg_notify|notify )'`
    expect(functions).toEqual([])
  })
})
