import type { ServerResponse } from "node:http"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createLogReplay } from "@outreach/domain/deliveries/Replays"
import { createIdentifier } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { eventually } from "@outreach/testing/eventually"
import { inTransaction } from "@outreach/testing/inTransaction"
import { partner } from "@outreach/testing/partner"
import { publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { startProcess } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, kill } = journey()

/** Every second of the first calls fails; later ones hang. */
const [EVENTS, REFUSED, IN_FLIGHT] = [600, 80, 8]
const SETTINGS = { WEBHOOK_LEASE_SECONDS: "5" }

/** Runs the command that removes an endpoint as a process. */
const removing = (endpointId: string) =>
  startProcess(
    import.meta.resolve("../../../ops/src/main.ts"),
    { PATH: process.env["PATH"]!, USER: "prover", DATABASE_URL: url() },
    { args: ["endpoints", "remove", endpointId, "--yes"] },
  )

/** A partner that fails every second of the first calls, and lets later calls hang until the test answers them. */
const hangingPartner = async () => {
  const held: Array<ServerResponse> = []
  let calls = 0
  const to = await partner((_, response) => {
    if (++calls > REFUSED) held.push(response)
    else response.writeHead(calls % 2 === 0 ? 500 : 200).end()
  })
  const answer = () => {
    for (const response of held.splice(0)) response.end()
  }
  return { to, held, answer }
}

/** An endpoint with hundreds of waiting events, retries, a running replay and all calls in flight, next to another endpoint of its organization. */
const seedBusy = async () => {
  const gone = await hangingPartner()
  const other = await partner()
  const seeded = await run(function* () {
    const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: gone.to.url })
    const endpoints = yield* EndpointRepository
    yield* endpoints.update(seeded.endpoint.id, { maxInFlight: IN_FLIGHT })
    const made = yield* endpoints.create({
      ...{ organizationId: seeded.organization.id, id: yield* createIdentifier("endpoint") },
      url: PrivateEndpointUrl.make(other.url),
    })
    yield* publishTogether(seeded.campaign, EVENTS)
    const [from, to] = [Timestamp.make("2020-01-01T00:00:00.000000Z"), Timestamp.make("2100-01-01T00:00:00.000000Z")]
    yield* createLogReplay({ endpointId: seeded.endpoint.id, from, to }, 10)
    return { ...seeded, otherId: made.id }
  })
  gone.to.trust(seeded.secret)
  other.trust(seeded.secret)
  const endpointId = seeded.endpoint.id
  const state = async () => {
    const [row] = await run(sql<{
      retries: number
      replays: number
      rows: number
      jobs: number
      isRemoved: boolean
      isOwned: boolean
    }>`
      select (select count(*)::int from deliveries where endpoint_id = ${endpointId} and attempts > 0) as retries,
        (select count(*)::int from deliveries where endpoint_id = ${endpointId} and replay) as replays,
        (select count(*)::int from deliveries where endpoint_id = ${endpointId}) as rows,
        (select count(*)::int from replay_jobs
          where endpoint_id = ${endpointId} and cancelled_at is null and finished_at is null) as jobs,
        removed_at is not null as "isRemoved", owner is not null as "isOwned"
      from webhook_endpoints join endpoint_readers on endpoint_id = id where id = ${endpointId}`)
    return row!
  }
  /** Waits until all its calls are in flight, with retries and replays waiting. */
  const isBusy = async () => {
    await until(gone.to, () => gone.held.length === IN_FLIGHT)
    await eventually(state, ({ retries, replays, jobs }) => retries >= REFUSED / 2 && replays > 0 && jobs === 1)
  }
  return { ...seeded, ...gone, other, endpointId, state, isBusy }
}
type Busy = Awaited<ReturnType<typeof seedBusy>>

/** Waits until a session of a process waits for a lock, or until there are no sessions. */
const sessions = (name: string, satisfies: (waiting: number, all: number) => boolean) =>
  eventually(
    () =>
      run(sql<{ waiting: number; all: number }>`
        select count(*)::int as all, count(*) filter (where wait_event_type = 'Lock')::int as waiting from pg_stat_activity
        where application_name like ${`outreach-${name}%`} and datname = current_database()`),
    ([row]) => satisfies(row!.waiting, row!.all),
  )
/** Runs work while a row is locked, so that another process waits for it. */
const whileLocked = (table: "endpoint_readers" | "replay_jobs", endpointId: string, work: () => Promise<unknown>) =>
  run(
    inTransaction(
      Effect.andThen(sql`select from ${sql(table)} where endpoint_id = ${endpointId} for update`, Effect.promise(work)),
    ),
  )

/** Expects that the removed endpoint has no waiting deliveries, that its history contains each call, and that the other endpoint received everything. */
const expectEnded = async ({ endpointId, campaign, otherId, other, to, state }: Busy, called: number) => {
  await eventually(state, ({ rows, jobs, isOwned }) => rows === 0 && jobs === 0 && !isOwned)
  const history = await run(deliveriesTo(endpointId))
  expect(history.filter(({ state }) => state === "pending" || state === "sending")).toEqual([])
  const calls = new Map<string, number>()
  for (const { deliveryId } of to.received) calls.set(deliveryId, (calls.get(deliveryId) ?? 0) + 1)
  const made = new Map(history.map(({ id, made }) => [id as string, made.length]))
  expect([...calls].filter(([id, count]) => (made.get(id) ?? 0) < count)).toEqual([])
  const [{ left }] = (await run(sql<{
    left: number
  }>`select count(*)::int as left from delivery_attempts where not exists (
      select from deliveries where id = delivery_id)`)) as [{ left: number }]
  expect(left).toBe(0)
  await run(publishTogether(campaign, 50))
  await until(other, ({ received }) => new Set(received.map(({ event }) => event.event_id)).size === EVENTS + 50)
  await eventually(
    () => run(deliveriesTo(otherId)),
    (all) => all.length === EVENTS + 50 && all.every(({ state }) => state === "delivered"),
  )
  expect([to.received.length, to.forged, other.forged]).toEqual([called, [], []])
  return history
}

describe("an endpoint that is removed", () => {
  it("is called no more and ends readable, whichever process is killed: that which removes, that which calls, that which ends", async () => {
    const busy = await seedBusy()
    const { endpointId, to, held, answer, state, isBusy } = busy
    const caller = await startWorker(url(), SETTINGS)
    await isBusy()

    // Killed within its transaction, the command has no effect, and the worker continues.
    await whileLocked("endpoint_readers", endpointId, async () => {
      const removal = removing(endpointId)
      await sessions("ops", (waiting) => waiting > 0)
      await removal.kill()
    })
    await sessions("ops", (_, all) => all === 0)
    expect((await state()).isRemoved).toBe(false)
    const before = to.received.length
    answer()
    await until(to, ({ received }) => received.length >= before + IN_FLIGHT)
    await isBusy()

    const removal = removing(endpointId)
    await eventually(state, ({ isRemoved }) => isRemoved)
    const called = to.received.length
    const inFlight = to.received.slice(-held.length).map(({ deliveryId }) => deliveryId)
    await removal.kill()
    await kill(caller)
    answer()

    // If it is killed while it cancels deliveries, the next worker continues.
    await whileLocked("replay_jobs", endpointId, async () => {
      const ending = await startWorker(url(), SETTINGS)
      await sessions("worker", (waiting) => waiting > 0)
      await kill(ending)
    })
    expect((await state()).rows).toBeGreaterThan(0)
    await startWorker(url(), SETTINGS)
    const history = await expectEnded(busy, called)
    // Including possible calls of the worker.
    const lost = history.filter(({ made }) => made.some(({ outcome }) => outcome === "outcome_unknown"))
    expect(lost.map(({ id }) => id as string)).toEqual(expect.arrayContaining(inFlight))
  })
})
