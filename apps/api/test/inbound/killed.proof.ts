import { setTimeout as sleep } from "node:timers/promises"
import { createIdentifier } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { recountDigest } from "@outreach/testing/recountDigest"
import { migratedDatabase, runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { column, sql } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { Effect, Random } from "effect"
import { expect, it } from "vitest"
import { eventText, postWebhook } from "../postWebhook.ts"
import { fold, inboundEvents, type SentEvent } from "./inboundEvents.ts"
import { startFleet } from "./startFleet.ts"

const EVENTS = Number(process.env["INBOUND_EVENTS"] ?? 500)
const SEED = Number(process.env["INBOUND_SEED"] ?? Date.now() % 2 ** 31)
const RECIPIENTS = 200

const databaseUrl = migratedDatabase()
const run = runOnDatabase({ url: databaseUrl })

it(`${EVENTS} events, repeated and in any order, have the same result as one by one, even if processes are killed (seed ${SEED})`, {
  timeout: 20 * 60_000,
}, async () => {
  const generator = Effect.runSync(Random.withSeed(Effect.service(Random.Random), SEED))
  const random = () => generator.nextDoubleUnsafe()
  const { organization, endpoint, secret, program } = await run(seedCampaign({ recipients: RECIPIENTS }))
  const others = await run(
    Effect.forEach(["diabetes", "asthma"], (slug) =>
      Effect.flatMap(ProgramRepository, (catalog) =>
        Effect.flatMap(createIdentifier("program"), (id) =>
          catalog.create({
            organizationId: organization.id,
            id,
            slug,
            name: slug,
            learnerTarget: null,
            completerTarget: slug === "asthma" ? 20 : null,
          }),
        ),
      ),
    ),
  )
  const slugs = [program, ...others].map(({ slug }) => slug)
  const events = inboundEvents(EVENTS, slugs, random)
  // Every event at least once, half of them twice, shuffled.
  const sendings = await Random.shuffle([...events, ...events.filter(() => random() < 0.5)]).pipe(
    Effect.provideService(Random.Random, generator),
    Effect.runPromise,
  )

  const fleet = await startFleet(databaseUrl())
  const send = async (event: SentEvent) => {
    const payload = eventText(event)
    for (;;) {
      try {
        const url = fleet.urls[Math.floor(random() * 2)]!
        const { status } = await postWebhook({ url }, { endpoint, secret }, payload, {
          signal: AbortSignal.timeout(10_000),
        })
        if (status === 200) return
        // A running process must return no other error.
        expect(status).toBe(503)
      } catch (error) {
        // The connection failed, or the request timed out.
        if (!(error instanceof Error && "code" in error)) throw error
        await sleep(50)
      }
    }
  }

  let sent = 0
  let kills = 0
  const sending = Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let event = sendings[sent++]; event !== undefined; event = sendings[sent++]) await send(event)
    }),
  )
  const over = new AbortController()
  const waiting = async () =>
    (
      await run(
        sql<{
          count: number
        }>`select count(*)::int as count from inbox where applied_at is null and quarantined_at is null`,
      )
    )[0]!.count
  const killing = (async () => {
    while (!over.signal.aborted) {
      await sleep(200 + random() * 400)
      await fleet.replace(Math.floor(random() * fleet.size))
      kills++
    }
  })()
  await sending
  // Continues while the rest is applied.
  await eventually(waiting, (count) => count < EVENTS / 50 && kills >= 4, 10 * 60_000)
  over.abort()
  await killing
  await eventually(waiting, (count) => count === 0)

  const expected = fold(events, slugs)
  const stored = await run(
    sql<{
      id: string
      quarantined: boolean
    }>`select event_id as id, quarantined_at is not null as quarantined from inbox order by event_id`,
  )
  expect(stored.length).toBe(EVENTS)
  expect(stored.filter(({ quarantined }) => quarantined).map(({ id }) => id)).toEqual(expected.quarantined)
  const totals = await run(sql`
    select slug, account_created_total as account_created, learner_qualified_total as learner_qualified,
      completer_qualified_total as completer_qualified
    from programs cross join lateral (
      select * from digest_funnel where program_id = programs.id order by date desc limit 1
    ) newest order by array_position(${slugs}::text[], slug)`)
  expect(totals).toEqual(expected.totals)
  const suppressed = await run(column<string>`
    select slug || ' ' || kind || ' ' || value from suppressions join programs on programs.id = program_id`)
  expect(suppressed.toSorted()).toEqual(expected.suppressed)
  // Clinicians named by an event about the campaign's program are withdrawn, and only those.
  const named = new Set([...expected.reached.get(program.slug)!.values()].flatMap((clinicians) => [...clinicians]))
  const recipients = await run(
    sql<{ npi: string; withdrawn: boolean }>`select npi, withdrawn_at is not null as withdrawn from recipients`,
  )
  expect(recipients.filter(({ npi, withdrawn }) => withdrawn !== named.has(npi))).toEqual([])
  const today = new Date().toISOString().slice(0, 10)
  const recounted = await run(recountDigest(today, organization.id))
  expect(recounted).toEqual([])
  console.log(`${sendings.length} sendings of ${EVENTS} events, ${kills} kills`)
})
