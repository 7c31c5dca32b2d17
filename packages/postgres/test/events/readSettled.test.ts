import { describe, expect } from "@effect/vitest"
import { FEED_EVENT_TYPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { SettlingLimit } from "@outreach/postgres/events/readSettled"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql, untilBlocked, whileOpen } from "@outreach/testing/sql"
import { Deferred, Effect, Fiber } from "effect"

const { test } = testsOnDatabase()

const pageOf = Effect.fnUntraced(function* (organizationId: OrganizationId, limit = 10) {
  const { page } = yield* EventFeed
  const { rows, isSettled } = yield* page(organizationId, FEED_EVENT_TYPES, feedFrom(fromUnixMillis(0)), limit)
  return { rows: rows.length, isSettled }
})

/** Reads an organization's last page of events during an open transaction with a timestamp. The transaction runs `write` and ends when the page waits. */
const readDuring = Effect.fnUntraced(function* <E, R>(
  organizationId: OrganizationId,
  write: Effect.Effect<unknown, E, R>,
) {
  const isStamped = yield* Deferred.make<void>()
  const mayEnd = yield* Deferred.make<void>()
  const writing = yield* Effect.forkChild(
    Effect.exit(
      inTransaction(
        Effect.andThen(
          commitTimestamp(organizationId),
          Effect.andThen(Deferred.succeed(isStamped, undefined), Effect.andThen(Deferred.await(mayEnd), write)),
        ),
      ),
    ),
  )
  yield* Deferred.await(isStamped)
  const reading = yield* Effect.forkChild(Effect.provideService(pageOf(organizationId), SettlingLimit, "1 minute"))
  yield* looksUpTransaction
  yield* Deferred.succeed(mayEnd, undefined)
  yield* Fiber.join(writing)
  return yield* Fiber.join(reading)
})

/** Waits until a reader has queried the status of the writer's transaction. */
const looksUpTransaction = sql`
  select from pg_stat_activity
  where datname = current_database() and query like '%pg_xact_status%' and pid <> pg_backend_pid()`.pipe(
  Effect.repeat({ until: ({ length }) => length > 0 }),
)

const soon = Effect.provideService(SettlingLimit, "20 millis")

describe("the last page", () => {
  test("waits for a transaction that has its timestamp, and contains its rows", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    yield* publishSent(campaign, 2)
    const page = yield* readDuring(organization.id, publishSent(campaign, 3))
    expect(page).toEqual({ rows: 5, isSettled: true })
  })

  test("is empty if the awaited transaction was rolled back", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const page = yield* readDuring(organization.id, Effect.fail("rolled back"))
    expect(page).toEqual({ rows: 0, isSettled: true })
  })

  test("waits for a timestamp that was taken in a savepoint", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    const withSavepoint = inTransaction(Effect.andThen(publishSent(campaign, 1), commitTimestamp(organization.id)))
    const page = yield* whileOpen(withSavepoint, () => soon(pageOf(organization.id)))
    expect(page).toEqual({ rows: 0, isSettled: false })
  })

  test("is not settled while a transaction keeps its timestamp for longer than the limit", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    yield* publishSent(campaign, 2)
    const during = () => soon(pageOf(organization.id))
    expect(yield* whileOpen(publishSent(campaign, 3), during)).toEqual({ rows: 2, isSettled: false })
    expect(yield* pageOf(organization.id)).toEqual({ rows: 5, isSettled: true })
  })

  test("is not settled while a transaction has read the time for its timestamp, and hasn't stored it", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    yield* publishSent(campaign, 2)
    const isHeld = yield* Deferred.make<void>()
    yield* sql`create schema slow`
    yield* sql`
      create function slow.clock_timestamp() returns timestamptz language plpgsql volatile as $$
      declare at timestamptz = pg_catalog.clock_timestamp();
      begin perform pg_advisory_xact_lock_shared(1); return at; end $$`
    const slowly = Effect.andThen(
      sql`select set_config('search_path', 'slow, pg_catalog, ' || current_setting('search_path'), true)`,
      publishSent(campaign, 3),
    )
    const writing = yield* Effect.forkChild(inTransaction(Effect.andThen(Deferred.await(isHeld), slowly)))
    const during = Effect.andThen(untilBlocked(), soon(pageOf(organization.id)))
    const page = yield* whileOpen(sql`select pg_advisory_xact_lock(1)`, () =>
      Effect.andThen(Deferred.succeed(isHeld, undefined), during),
    )
    yield* Fiber.join(writing)
    expect(page).toEqual({ rows: 2, isSettled: false })
    expect(yield* pageOf(organization.id)).toEqual({ rows: 5, isSettled: true })
  })

  test("doesn't wait for other organizations, or for a finished transaction that locked the clock without a timestamp", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    const other = yield* seedCampaign({ recipients: 0 })
    yield* publishSent(campaign, 2)
    yield* inTransaction(sql`select from organization_clock where organization_id = ${organization.id} for update`)
    const during = () => Effect.provideService(pageOf(organization.id), SettlingLimit, "1 hour")
    expect(yield* whileOpen(publishSent(other.campaign, 1), during)).toEqual({ rows: 2, isSettled: true })
  })
})

test("a full page doesn't wait", function* () {
  const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* publishSent(campaign, 2)
  const during = () => Effect.provideService(pageOf(organization.id, 2), SettlingLimit, "1 hour")
  expect(yield* whileOpen(publishSent(campaign, 3), during)).toEqual({ rows: 2, isSettled: true })
})
