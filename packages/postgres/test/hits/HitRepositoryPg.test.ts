import { randomUUID } from "node:crypto"
import { EventPublisher } from "@outreach/domain/events/Event"
import { type Hit, HitRepository, judgeHits as judgeSome } from "@outreach/domain/hits/Hits"
import { type HitId, RecipientId } from "@outreach/domain/Identifier"
import { OldRows } from "@outreach/postgres/OldRows"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Clock, Effect, Exit } from "effect"
import { beforeEach, describe, expect } from "vitest"

/** Runs an effect in a transaction that only allows nested loop joins: they run an inner subselect again for each outer row. */
const withRescans = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const settings = ["hashjoin", "mergejoin", "material", "memoize", "hashagg", "sort"]
  const set = sql`select set_config('enable_' || name, 'off', true) from unnest(${settings}::text[]) as name`
  return yield* inTransaction(Effect.andThen(set, effect))
})

const { run, test } = testsOnDatabase()
const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"

/** A campaign with recipients; their messages were accepted a number of seconds ago. */
const seedSent = Effect.fnUntraced(function* (options: { readonly recipients: number; readonly sentAgo?: number }) {
  const { sentAgo = 3600 } = options
  const seeded = yield* seedCampaign(options)
  const { id: organizationId } = seeded.organization
  yield* sql`
    update recipients set sent_at = clock_timestamp() - make_interval(secs => ${sentAgo}) where organization_id = ${organizationId}`
  const recipients = yield* sql<{ id: RecipientId; token: string }>`
    select id, token from recipients where organization_id = ${organizationId} order by id`
  const hit = (over: Partial<Hit & { readonly agoMs: number }> = {}) => ({
    id: `hit_${randomUUID().replaceAll("-", "")}` as HitId,
    organizationId,
    recipientId: recipients[0]!.id,
    link: "https://clinic.test/",
    method: "GET",
    address: "198.51.100.7",
    headers: { "user-agent": CHROME },
    agoMs: 0,
    ...over,
  })
  const events = sql<{ type: string; recipient_id: string; body: string }>`
    select type, recipient_id, body from events where organization_id = ${organizationId} order by occurred_at, id`
  const hits = sql<{ received_at: string; judged_at: string | null; reasons: ReadonlyArray<string> | null }>`
    select received_at, judged_at, reasons from hits where organization_id = ${organizationId} order by received_at, id`
  return { ...seeded, recipients, hit, events, hits }
})
const record = Effect.fnUntraced(function* (...hits: ReadonlyArray<Hit & { readonly agoMs: number }>) {
  const now = yield* Clock.currentTimeMillis
  yield* (yield* HitRepository).record(hits.map(({ agoMs, ...hit }) => ({ ...hit, cameAt: now - agoMs })))
})

/** Classifies a batch of hits of each organization; returns the number. */
const judgeHits = Effect.gen(function* () {
  const { waiting } = yield* HitRepository
  const judged = yield* Effect.forEach(yield* waiting, judgeSome)
  return judged.reduce((sum, count) => sum + count, 0)
})

// Classification and deletion process the hits of all organizations.
beforeEach(() => run(Effect.andThen(sql`delete from hits`, sql`delete from hit_windows`)))

describe("a hit", () => {
  test("is published as an open or a click, with the fields of the catalogue and its time", function* () {
    const { hit, events, hits, recipients, campaign, program } = yield* seedSent({ recipients: 1 })
    yield* record(hit({ link: null, agoMs: 2000 }), hit({ agoMs: 1000, method: "HEAD" }))
    yield* judgeHits

    const [opened, clicked] = yield* hits
    const rows = yield* events
    const common = { service_campaign_id: campaign.id, service_program_id: program.id, token: recipients[0]!.token }
    expect(rows.map(({ type }) => type)).toEqual(["outreach.email_opened", "outreach.email_clicked"])
    expect(rows.map(({ body }) => JSON.parse(body).data)).toEqual([
      { ...common, is_bot_suspected: false, opened_at: opened!.received_at },
      { ...common, is_bot_suspected: true, clicked_at: clicked!.received_at },
    ])
    expect(rows.map(({ body }) => JSON.parse(body).occurred_at)).toEqual([opened!.received_at, clicked!.received_at])
    expect(Date.parse(clicked!.received_at) - Date.parse(opened!.received_at)).toBe(1000)
    expect([opened!.reasons, clicked!.reasons]).toEqual([[], ["head"]])
  })

  test("is pending for every endpoint, and stamps its recipient", function* () {
    const { hit, organization, endpoint } = yield* seedSent({ recipients: 1 })
    yield* record(hit())
    yield* judgeHits
    const rows = yield* sql`
      select endpoint_id, last_event_at = emitted_at and updated_at = emitted_at as stamped
      from events join reader_positions using (organization_id) join recipients using (organization_id)
      where organization_id = ${organization.id} and (emitted_at, events.id) > (begun_at, begun_id)`
    expect(rows).toEqual([{ endpoint_id: endpoint.id, stamped: true }])
  })

  test("is forwarded for each repetition, and classified once", function* () {
    const { hit, events, hits } = yield* seedSent({ recipients: 1 })
    yield* record(...Array.from({ length: 5 }, () => hit()))
    expect(yield* judgeHits).toBe(5)
    const before = yield* hits
    expect(yield* judgeHits).toBe(0)
    expect(yield* events).toHaveLength(5)
    expect(yield* hits).toEqual(before)
  })

  test("is compared with the time that its message was accepted", function* () {
    const { hit, hits } = yield* seedSent({ recipients: 1, sentAgo: 10 })
    yield* record(...[11_000, 9500, 8000].map((agoMs) => hit({ agoMs })))
    yield* judgeHits
    expect((yield* hits).map(({ reasons }) => reasons)).toEqual([["too_early"], ["too_early"], []])
  })

  test("isn't early if the timestamp of its message is ahead of the clock", function* () {
    const { hit, hits } = yield* seedSent({ recipients: 1, sentAgo: -60 })
    yield* record(hit())
    yield* judgeHits
    expect((yield* hits).map(({ reasons }) => reasons)).toEqual([[]])
  })

  test("waits for its message to be accepted, but at most a minute", function* () {
    const { hit, hits, organization } = yield* seedSent({ recipients: 1 })
    const setSent = (sentAt: string | null) =>
      sql`update recipients set sent_at = ${sentAt}::timestamptz where organization_id = ${organization.id}`
    yield* setSent(null)
    yield* record(hit({ agoMs: 61_000 }), hit({ agoMs: 30_000 }))
    yield* judgeHits
    expect((yield* hits).map(({ reasons }) => reasons)).toEqual([[], null])
    yield* setSent("now")
    yield* judgeHits
    expect((yield* hits).map(({ reasons }) => reasons)).toEqual([[], ["too_early"]])
  })

  test("on many links within two seconds is suspected, only for that recipient", function* () {
    const { hit, hits, recipients } = yield* seedSent({ recipients: 2 })
    const links = ["a", "b", "c", "d"].map((name, i) => hit({ link: `https://${name}.test/`, agoMs: 1000 - i }))
    yield* record(...links, hit({ link: "https://e.test/", recipientId: recipients[1]!.id }))
    yield* judgeHits
    expect((yield* hits).map(({ reasons }) => reasons)).toEqual([[], [], ["many_links"], ["many_links"], []])
  })

  test("for an unknown recipient is dropped, and the other hits of its batch are stored", function* () {
    const { hit, hits } = yield* seedSent({ recipients: 1 })
    yield* record(hit({ recipientId: RecipientId.make(`rcp_${"0".repeat(32)}`) }), hit())
    expect(yield* hits).toHaveLength(1)
  })

  test("for a survey is classified but not forwarded", function* () {
    const { hit, hits, events, organization } = yield* seedSent({ recipients: 1 })
    yield* sql`update campaigns set kind = 'survey' where organization_id = ${organization.id}`
    yield* record(hit())
    yield* judgeHits
    expect((yield* hits).map(({ reasons }) => reasons)).toEqual([[]])
    expect(yield* events).toEqual([])
    expect(yield* sql`select from digest_outreach where organization_id = ${organization.id}`).toEqual([])
  })
})

describe("judgeHits", () => {
  test("publishes each hit once with concurrent workers", function* () {
    const { hit, events, hits, recipients } = yield* seedSent({ recipients: 20 })
    const many = Array.from({ length: 300 }, (_, i) =>
      hit({
        address: `198.51.100.${i % 256}`,
        recipientId: recipients[i % 20]!.id,
        link: i % 3 === 0 ? null : `https://${i}.test/`,
        agoMs: 5000 - i,
      }),
    )
    yield* record(...many)
    const counts = yield* Effect.replicateEffect(judgeHits, 5, { concurrency: "unbounded" })
    expect(counts.reduce((sum, count) => sum + count)).toBe(300)
    expect((yield* hits).every(({ judged_at }) => judged_at !== null)).toBe(true)
    const rows = yield* events
    const times = rows.map(({ body, recipient_id }) => `${JSON.parse(body).occurred_at} ${recipient_id}`)
    expect(new Set(times).size).toBe(300)
    expect(rows).toHaveLength(300)
  })

  test("leaves a hit unchanged if it fails halfway", function* () {
    const { hit, events, hits, organization } = yield* seedSent({ recipients: 1 })
    yield* record(hit())
    const publisher = yield* EventPublisher
    const failing = EventPublisher.of({
      publish: (...events) => Effect.andThen(publisher.publish(...events), Effect.die(new Error("no connection"))),
    })
    const exit = yield* Effect.exit(Effect.provideService(judgeSome(organization.id), EventPublisher, failing))
    expect(Exit.isFailure(exit)).toBe(true)
    expect(yield* events).toEqual([])
    expect((yield* hits).map(({ judged_at }) => judged_at)).toEqual([null])
    expect(yield* judgeHits).toBe(1)
    expect(yield* events).toHaveLength(1)
  })

  test("claims from each organization, so that a flood doesn't delay the other organizations", function* () {
    const [flooded, other] = [yield* seedSent({ recipients: 1 }), yield* seedSent({ recipients: 1 })]
    yield* record(...Array.from({ length: 510 }, (_, i) => flooded.hit({ agoMs: 60_000, link: `https://${i}.test/` })))
    yield* record(other.hit())
    expect(yield* judgeHits).toBe(501)
    expect(yield* other.events).toHaveLength(1)
    expect(yield* judgeHits).toBe(10)
  })
})

describe("hits of one link", () => {
  const kept = Effect.fnUntraced(function* ({ organization }: Effect.Success<ReturnType<typeof seedSent>>) {
    return yield* sql<{ link: string | null; rows: number; repeats: number }>`
      select link, count(*)::int as rows, sum(repeats)::int as repeats from hits
      where organization_id = ${organization.id} group by link order by link`
  })

  test("from one address are forwarded 20 times a minute, and then counted on the last stored one, over several processes", function* () {
    const seeded = yield* seedSent({ recipients: 1 })
    // In the middle of the last clock minute, so that all hits are in the same minute.
    const middle = ((yield* Clock.currentTimeMillis) % 60_000) + 30_000
    const batches = Array.from({ length: 10 }, (_, batch) =>
      Array.from({ length: 30 }, (_, i) => seeded.hit({ agoMs: middle + 10 * i + batch })),
    )
    yield* Effect.forEach(batches, (batch) => record(...batch), { concurrency: "unbounded" })
    expect(yield* kept(seeded)).toEqual([{ link: "https://clinic.test/", rows: 20, repeats: 280 }])
    expect(yield* judgeHits).toBe(20)
    expect(yield* seeded.events).toHaveLength(20)
  })

  test("have a separate limit for each link, network, recipient and minute", function* () {
    const seeded = yield* seedSent({ recipients: 2 })
    const agoMs = 60_000
    const some = (over: Parameters<typeof seeded.hit>[0]) =>
      Array.from({ length: 21 }, () => seeded.hit({ agoMs, ...over }))
    yield* record(
      ...some({}),
      ...some({ link: null }),
      ...some({ link: "https://clinic.test/other" }),
      ...some({ address: "198.51.100.8" }),
      ...some({ agoMs: agoMs + 60_000 }),
      ...some({ recipientId: seeded.recipients[1]!.id }),
    )
    const rows = yield* kept(seeded)
    expect(rows.reduce((sum, { rows }) => sum + rows, 0)).toBe(6 * 20)
    expect(rows.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(6)
  })

  test("from one IPv6 network have the same limit as those from one address", function* () {
    const seeded = yield* seedSent({ recipients: 1 })
    yield* record(
      ...Array.from({ length: 60 }, (_, i) => seeded.hit({ agoMs: 60_000, address: `2001:db8:0:7::${i}` })),
      ...Array.from({ length: 10 }, () => seeded.hit({ agoMs: 60_000, address: "2001:db8:0:8::1" })),
    )
    expect(yield* kept(seeded)).toEqual([{ link: "https://clinic.test/", rows: 30, repeats: 40 }])
  })

  test("are forwarded 40 times a minute from any addresses, over several processes", function* () {
    const seeded = yield* seedSent({ recipients: 1 })
    const batches = Array.from({ length: 6 }, (_, batch) =>
      Array.from({ length: 30 }, (_, i) => seeded.hit({ agoMs: 60_000, address: `198.51.${batch}.${i}` })),
    )
    yield* Effect.forEach(batches, (batch) => record(...batch), { concurrency: "unbounded" })
    expect(yield* kept(seeded)).toEqual([{ link: "https://clinic.test/", rows: 40, repeats: 140 }])
  })

  test("are counted once when they are stored again after an unknown outcome", function* () {
    const seeded = yield* seedSent({ recipients: 1 })
    const batch = Array.from({ length: 15 }, () => seeded.hit({ agoMs: 60_000 }))
    yield* record(...batch)
    yield* record(...batch)
    yield* record(...Array.from({ length: 5 }, () => seeded.hit({ agoMs: 60_000 })))
    expect((yield* kept(seeded)).map(({ rows, repeats }) => [rows, repeats])).toEqual([[20, 0]])
  })
})

test("OldRows.deleteHits deletes a thousand of each per call with any plan", function* () {
  const { hit, organization } = yield* seedSent({ recipients: 1 })
  const { id: hitId, recipientId, link, method, address } = hit()
  yield* sql`
    with given as (select n, clock_timestamp() - interval '100 days' as at from generate_series(1, 1100) as n), judged as (
      insert into hits (organization_id, id, recipient_id, kind, link, method, address, headers, received_at, judged_at, reasons)
      select ${organization.id}, left(${hitId}, -4) || lpad(n::text, 4, '0'), ${recipientId}, 'click', ${link}, ${method}, ${address}, '{}', at, at, '{}'
      from given
    )
    insert into hit_windows (window_start, organization_id, recipient_id, link_hash, network, hits)
    select at, ${organization.id}, ${recipientId}, '', n::text, 1 from given`
  const left = sql<{ hits: number; windows: number }>`
    select (select count(*)::int from hits where organization_id = ${organization.id}) as hits,
      (select count(*)::int from hit_windows where organization_id = ${organization.id}) as windows`
  expect(yield* withRescans(OldRows.use(({ deleteHits }) => deleteHits(90)))).toBe(1000)
  expect(yield* left).toEqual([{ hits: 100, windows: 100 }])
})
