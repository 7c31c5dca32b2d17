import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { applyNext } from "@outreach/domain/inbox/applyBatch"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { createProgram } from "@outreach/domain/programs/Programs"
import { RecipientRepository, recipientsFrom } from "@outreach/domain/recipients/Recipient"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { recountDigest } from "@outreach/testing/recountDigest"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import {
  cancelCampaigns,
  claimMessages,
  seedSentCampaign,
  sendCampaign,
  settleSent,
} from "@outreach/testing/sendCampaign"
import { column, inTransaction, sql, untilBlocked, whileOpen } from "@outreach/testing/sql"
import { Effect, Fiber, References } from "effect"
import fc from "fast-check"
import { beforeEach, describe, expect, it } from "vitest"

const { run, test } = testsOnDatabase()

// Claims and appliers process all organizations, so each test starts without pending work.
beforeEach(() =>
  run(function* () {
    yield* cancelCampaigns
    for (const table of ["inbox", "inbox_keys"]) yield* sql`delete from ${sql(table)}`
    yield* sql`delete from digest_funnel`
  }),
)

type Seeded = Effect.Success<ReturnType<typeof seedCampaign>>

const slug = { consumer_program_slug: "heart-failure" }
const account = (n: number, more: object = {}) => ({ ...slug, npi: npi(n), email: `new${n}@clinic.test`, ...more })
const qualified = (n: number) => ({ ...slug, npi: npi(n) })
const applyAll = Effect.gen(function* () {
  while (yield* applyBatches) {}
})
const recipients = Effect.fnUntraced(function* ({ organization }: Seeded) {
  const rows = yield* sql<{ npi: string; token: string; reason: string | null; at: string; moved: boolean }>`
    select npi, token, withdrawal_reason as reason, account_created_at is not null as stamped, updated_at > created_at as moved,
      sent_at is not null as sent
    from recipients where organization_id = ${organization.id} order by npi`
  return rows
})
const withdrawnFor = (seeded: Seeded) => Effect.map(recipients(seeded), (rows) => rows.map(({ reason }) => reason))
const entries = ({ organization }: Seeded) =>
  Effect.flatMap(InboxReader, (reader) => reader.list("quarantined", { organizationId: organization.id }, 100)).pipe(
    Effect.map((page) => page.rows.map(({ eventId, reason }) => [eventId, reason])),
  )

describe("an account_created event", () => {
  test("suppresses the NPI and the address, case-insensitively, and withdraws waiting recipients", function* () {
    const seeded = yield* seedCampaign({ recipients: 3 })
    yield* receiveEvent(seeded, "evt_1", "clinician.account_created", account(0))
    yield* receiveEvent(seeded, "evt_2", "clinician.account_created", account(9, { email: "CLINICIAN1@Clinic.test" }))
    yield* applyAll
    expect(yield* withdrawnFor(seeded)).toEqual(["suppressed", "suppressed", null])
    expect((yield* recipients(seeded)).map(({ moved }) => moved)).toEqual([true, true, false])
    const entries = yield* sql`
      select kind, value, reason from suppressions where program_id = ${seeded.program.id} order by kind, value`
    expect(entries).toEqual(
      [
        ["email", "clinician1@clinic.test"],
        ["email", "new0@clinic.test"],
        ["npi", npi(0)],
        ["npi", npi(9)],
      ].map(([kind, value]) => ({ kind, value, reason: "account_created" })),
    )
  })

  test("excludes the clinician from later imports of the program, but not of other programs", function* () {
    const [seeded, other] = [yield* seedCampaign({ recipients: 0 }), yield* seedCampaign({ recipients: 0 })]
    yield* receiveEvent(seeded, "evt_1", "clinician.account_created", account(0))
    yield* receiveEvent(seeded, "evt_2", "clinician.learner_qualified", qualified(2))
    yield* applyAll
    const lines = [
      { number: 2, npi: npi(0), email: "another@clinic.test" },
      { number: 3, npi: npi(1), email: "NEW0@clinic.test" },
      { number: 4, npi: npi(2), email: "two@clinic.test" },
      { number: 5, npi: npi(3), email: "three@clinic.test" },
    ]
    expect(yield* importLines(seeded.campaign.id, lines)).toMatchObject({ imported: 1, suppressed: 3, bad: [] })
    expect(yield* importLines(other.campaign.id, lines)).toMatchObject({ imported: 4, suppressed: 0 })
  })

  test("stamps only the recipient that the partner attributes it to", function* () {
    const seeded = yield* seedSentCampaign({ recipients: 2 })
    const [first, second] = yield* recipients(seeded)
    const repository = yield* RecipientRepository
    const from = recipientsFrom("2020-01-01T00:00:00Z" as Timestamp)
    const { rows: before } = yield* repository.page(seeded.organization.id, from, 10)
    const attributed = { attribution: "service_token", token: first!.token }
    yield* receiveEvent(seeded, "evt_1", "clinician.account_created", account(0, attributed))
    yield* receiveEvent(
      seeded,
      "evt_2",
      "clinician.account_created",
      account(1, { attribution: "organic", token: second!.token }),
    )
    yield* receiveEvent(seeded, "evt_3", "clinician.account_created", account(7, { ...attributed, token: "zzzzzz" }))
    yield* applyAll
    expect(yield* recipients(seeded)).toMatchObject([
      { stamped: true, sent: true, reason: null },
      { stamped: false, sent: true, reason: null },
    ])
    // Pollers of the list receive the change.
    const { rows: after } = yield* repository.page(seeded.organization.id, before.at(-1)!, 10)
    expect(after.map(({ token, lastEventAt, updatedAt }) => [token, lastEventAt === updatedAt])).toEqual([
      [first!.token, true],
    ])
    expect(yield* entries(seeded)).toEqual([])
  })
})

describe("a qualification", () => {
  test("after the target was reached doesn't change the time when it was reached", function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    yield* sql`update programs set completer_target = 1, learner_target = 1 where id = ${seeded.program.id}`
    const reachedAt = sql<{ completers: string; learners: string }>`
      select completer_reached_at as completers, learner_reached_at as learners from digest_funnel
      where program_id = ${seeded.program.id} order by date desc limit 1`
    const qualify = Effect.fnUntraced(function* (n: number) {
      yield* receiveEvent(seeded, `evt_${n}_learner`, "clinician.learner_qualified", qualified(n))
      yield* receiveEvent(seeded, `evt_${n}_completer`, "clinician.completer_qualified", qualified(n))
      yield* applyAll
      return yield* reachedAt
    })
    const first = yield* qualify(1)
    expect(first).toEqual([{ completers: expect.any(String), learners: expect.any(String) }])
    expect(yield* qualify(2)).toEqual(first)
  })

  test("that reaches the target of completers withdraws all waiting recipients, and stops imports", function* () {
    const seeded = yield* seedCampaign({ recipients: 5 })
    yield* sql`update programs set completer_target = 2 where id = ${seeded.program.id}`
    yield* sendCampaign(seeded.campaign.id)
    yield* receiveEvent(seeded, "evt_1", "clinician.completer_qualified", qualified(0))
    yield* applyAll
    expect(yield* withdrawnFor(seeded)).toEqual(["completer_qualified", null, null, null, null])
    yield* receiveEvent(seeded, "evt_2", "clinician.completer_qualified", qualified(8))
    const application = yield* applyNext(seeded.organization.id, 10)
    expect(application).toMatchObject({ applied: 1, reached: [seeded.program.id] })
    // Sending stops immediately, even if the withdrawal takes long.
    expect(yield* claimMessages(9)).toEqual([])
    yield* applyAll
    expect(yield* withdrawnFor(seeded)).toEqual(["completer_qualified", ...Array(4).fill("quota_reached")])
    yield* sql`update campaigns set status = 'paused' where id = ${seeded.campaign.id}`
    const line = { number: 2, npi: npi(20), email: "late@clinic.test" }
    expect(yield* Effect.flip(importLines(seeded.campaign.id, [line]))).toMatchObject({ _tag: "QuotaReached" })
  })
})

describe("an event that cannot be applied", () => {
  test("is quarantined with its reason, doesn't block other events, and is applied when it is replayed", function* () {
    const seeded = yield* seedCampaign({ recipients: 1 })
    const bad: ReadonlyArray<readonly [object, string]> = [
      [{ ...slug }, "data.npi is missing or not valid"],
      [
        { ...account(0), consumer_program_slug: "later" },
        "data.consumer_program_slug names no program of the organization",
      ],
      [
        { ...account(0), consumer_program_slug: "\0" },
        "data.consumer_program_slug names no program of the organization",
      ],
    ]
    for (const [i, [data]] of bad.entries()) {
      yield* receiveEvent(seeded, `evt_${i}`, "clinician.account_created", data as Record<string, unknown>)
    }
    yield* receiveEvent(seeded, "evt_unknown", "clinician.moved", { anything: [1] })
    yield* receiveEvent(seeded, "evt_good", "clinician.learner_qualified", qualified(0))
    yield* applyAll
    expect(yield* entries(seeded)).toEqual(bad.map(([, reason], i) => [`evt_${i}`, reason]))
    expect(yield* withdrawnFor(seeded)).toEqual(["learner_qualified"])

    const inbox = yield* InboxRepository
    expect(yield* inbox.find(seeded.organization.id, "evt_unknown")).toMatchObject({ state: "applied" })
    yield* sql`update programs set slug = 'later' where id = ${seeded.program.id}`
    yield* inbox.replay(seeded.organization.id, "evt_1")
    yield* applyAll
    expect(yield* inbox.find(seeded.organization.id, "evt_1")).toMatchObject({ state: "applied", reason: null })
    expect(yield* Effect.flip(inbox.replay(seeded.organization.id, "evt_1"))).toMatchObject({ _tag: "NotQuarantined" })
  })

  test("is isolated from a batch if the database rejects it", function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    yield* sql`
      create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = 'check_violation'; end $$`
    yield* sql.unsafe(`
      create trigger refuse before insert on qualifications for each row when (new.npi = '${npi(3)}') execute function refuse()`)
    for (let i = 0; i < 6; i++) {
      yield* receiveEvent(seeded, `evt_${i}`, "clinician.learner_qualified", qualified(i))
    }
    yield* applyAll
    expect(yield* entries(seeded)).toEqual([["evt_3", "it could not be applied: 23514"]])
    const [counted] =
      yield* sql`select count(*)::int as count from qualifications where program_id = ${seeded.program.id}`
    expect(counted).toEqual({ count: 5 })
    yield* sql`drop trigger refuse on qualifications`
    expect(yield* (yield* InboxRepository).replayAll(seeded.organization.id)).toBe(1)
    yield* applyAll
    expect(yield* entries(seeded)).toEqual([])
  })
})

describe("while a campaign is sending", () => {
  test("an event waits for the message in flight, and later events of the clinician wait behind it", function* () {
    const seeded = yield* seedCampaign({ recipients: 2 })
    yield* sendCampaign(seeded.campaign.id)
    const [lease] = yield* claimMessages(1)
    const n = lease!.email === "clinician0@clinic.test" ? 0 : 1
    yield* receiveEvent(seeded, "evt_1", "clinician.learner_qualified", qualified(n))
    yield* receiveEvent(seeded, "evt_2", "clinician.account_created", account(n))
    yield* receiveEvent(seeded, "evt_3", "clinician.learner_qualified", qualified(1 - n))
    const next = applyNext(seeded.organization.id, 10)
    expect(yield* next).toMatchObject({ applied: 1, waiting: 2 })
    expect(yield* next).toMatchObject({ applied: 0, waiting: 2 })
    expect(yield* settleSent(lease!)).toBe(true)
    expect(yield* next).toMatchObject({ applied: 2, waiting: 0 })
    const rows = yield* recipients(seeded)
    expect(rows[n]).toMatchObject({ sent: true, reason: null })
    expect(rows[1 - n]).toMatchObject({ sent: false, reason: "learner_qualified" })
    expect(yield* claimMessages(9)).toEqual([])
  })

  test("an event waits for an earlier pending one of its clinician, even in a different program", function* () {
    const seeded = yield* seedCampaign({ recipients: 1 })
    yield* createProgram({ organizationId: seeded.organization.id, slug: "diabetes", name: "Diabetes" })
    yield* sendCampaign(seeded.campaign.id)
    const [lease] = yield* claimMessages(1)
    const diabetes = { consumer_program_slug: "diabetes" }
    yield* receiveEvent(seeded, "evt_1", "clinician.learner_qualified", qualified(0))
    yield* receiveEvent(seeded, "evt_2", "clinician.learner_qualified", { ...qualified(0), ...diabetes })
    yield* receiveEvent(seeded, "evt_3", "clinician.learner_qualified", { ...qualified(1), ...diabetes })
    const next = applyNext(seeded.organization.id, 10)
    const inbox = yield* InboxRepository
    const states = Effect.forEach(["evt_1", "evt_2", "evt_3"], (id) =>
      Effect.map(inbox.find(seeded.organization.id, id), ({ state }) => state),
    )
    expect(yield* next).toMatchObject({ applied: 1, waiting: 2 })
    expect(yield* states).toEqual(["waiting", "waiting", "applied"])
    expect(yield* settleSent(lease!)).toBe(true)
    expect(yield* next).toMatchObject({ applied: 2, waiting: 0 })
    expect(yield* states).toEqual(["applied", "applied", "applied"])
  })

  test("a withdrawn recipient never receives an e-mail, with any interleaving", function* () {
    const count = 90
    const seeded = yield* seedCampaign({ recipients: count })
    yield* sendCampaign(seeded.campaign.id)
    const handed = new Set<string>()
    const send = Effect.gen(function* () {
      const leases = yield* claimMessages(7)
      for (const { email } of leases) handed.add(email)
      yield* Effect.forEach(leases, settleSent, { concurrency: 7, discard: true })
      return leases.length
    })
    const sending = Effect.gen(function* () {
      while ((yield* send) > 0) {}
    })
    const receive = (i: number) =>
      Effect.andThen(receiveEvent(seeded, `evt_${i}`, "clinician.account_created", account(i)), applyBatches)
    const receiving = Effect.gen(function* () {
      for (let i = count - 4; i >= 0; i -= 3) yield* receive(i)
    })
    // At least one recipient is withdrawn, and some receive their e-mail.
    yield* receive(count - 1)
    yield* send
    yield* Effect.all([sending, sending, receiving], { concurrency: "unbounded" })
    yield* applyAll
    const rows = yield* recipients(seeded)
    const withdrawn = rows.filter(({ reason }) => reason !== null)
    expect(Math.min(withdrawn.length, handed.size)).toBeGreaterThan(0)
    const emails = rows.map((_, i) => `clinician${i}@clinic.test`)
    expect(rows.filter(({ reason }, i) => reason !== null && handed.has(emails[i]!))).toEqual([])
    expect(handed.size + withdrawn.length).toBe(count)
  })

  test("a concurrent import doesn't add a clinician that an event suppresses", function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    const line = { number: 2, npi: npi(0), email: "zero@clinic.test" }
    yield* receiveEvent(seeded, "evt_1", "clinician.account_created", account(0))
    const applying = yield* whileOpen(
      importLines(seeded.campaign.id, [line]),
      Effect.fnUntraced(function* () {
        const fiber = yield* Effect.forkDetach(applyNext(seeded.organization.id, 10))
        // It has searched for recipients without a match, and now waits for the clock that the import has locked.
        yield* untilBlocked()
        return fiber
      }),
    )
    expect(yield* Fiber.join(applying)).toMatchObject({ applied: 1 })
    expect(yield* withdrawnFor(seeded)).toEqual(["suppressed"])
  })
})

const STAGES = ["account_created", "learner_qualified", "completer_qualified"] as const
const SLUGS = ["heart-failure", "diabetes", "asthma"]
const RECIPIENTS = 30

/** Events about few clinicians, so that most repeat others; some are of an unknown type or program. */
const inboundEvents = fc.array(
  fc.record({
    stage: fc.constantFrom(...STAGES, "retired"),
    slug: fc.constantFrom(...SLUGS, "nowhere"),
    n: fc.nat(2 * RECIPIENTS),
  }),
  { minLength: 100, maxLength: 200 },
)

it("events in any order, applied by concurrent and crashing workers, have the same result as one by one", () =>
  fc.assert(
    fc.asyncProperty(inboundEvents, (events) =>
      run(function* () {
        const seeded = yield* seedCampaign({ recipients: RECIPIENTS })
        const { id: organizationId } = seeded.organization
        for (const slug of SLUGS.slice(1)) yield* createProgram({ organizationId, slug, name: slug })
        const receiving = Effect.forEach(
          // Half of the events come again.
          [...events.entries(), ...[...events.entries()].filter(([i]) => i % 2 === 0)],
          ([i, { stage, slug, n }]) =>
            receiveEvent(seeded, `evt_${i}`, `clinician.${stage}`, { ...account(n), consumer_program_slug: slug }),
          { concurrency: 8, discard: true },
        )
        const crashing = Effect.exit(inTransaction(Effect.andThen(applyNext(organizationId, 20), Effect.fail("crash"))))
        const turns = { times: 9 }
        const workers = Effect.replicateEffect(Effect.repeat(applyBatches, turns), 2, { concurrency: 2 })
        const quietly = Effect.provideService(References.MinimumLogLevel, "Error")
        yield* quietly(Effect.all([receiving, workers, Effect.repeat(crashing, turns)], { concurrency: 3 }))
        yield* quietly(applyAll)

        const known = events.map(({ stage }) => stage !== "retired")
        const applied = events.filter(({ slug }, i) => known[i] && slug !== "nowhere")
        const unique = (texts: ReadonlyArray<string>) => [...new Set(texts)].sort()
        const quarantined = events.flatMap(({ slug }, i) => (known[i] && slug === "nowhere" ? [`evt_${i}`] : []))
        expect((yield* entries(seeded)).map(([id]) => id).sort()).toEqual(quarantined.sort())
        const qualifications = yield* column<string>`
          select slug || ' ' || stage || ' ' || npi from qualifications join programs on programs.id = program_id
          where qualifications.organization_id = ${organizationId}`
        expect(qualifications.toSorted()).toEqual(
          unique(applied.map(({ slug, stage, n }) => `${slug} ${stage} ${npi(n)}`)),
        )
        const suppressed = yield* column<string>`
          select slug || ' ' || value from suppressions join programs on programs.id = program_id
          where programs.organization_id = ${organizationId}`
        expect(suppressed.toSorted()).toEqual(
          unique(
            applied.flatMap(({ slug, stage, n }) =>
              stage === "account_created" ? [`${slug} ${npi(n)}`, `${slug} ${account(n).email}`] : [],
            ),
          ),
        )
        const named = new Set(applied.flatMap(({ slug, n }) => (slug === SLUGS[0] ? [npi(n)] : [])))
        for (const { npi, reason } of yield* recipients(seeded)) expect(reason !== null).toBe(named.has(npi as never))
        const today = new Date().toISOString().slice(0, 10)
        expect(yield* recountDigest(today, organizationId)).toEqual([])
      }),
    ),
    { numRuns: propertyRuns(10) },
  ))
