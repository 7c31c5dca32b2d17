import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { createMatcher, ErasureRepository, likePatterns, placeholderOf } from "@outreach/domain/erasure/Erasure"
import { eraseClinician, eraseRecipients } from "@outreach/domain/erasure/Erasures"
import { judgeHits } from "@outreach/domain/hits/Hits"
import type { EventId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { IdempotencyRepository } from "@outreach/domain/idempotency/executeOnce"
import { ERASED_BODY_END, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { type Clinician, Npi } from "@outreach/domain/recipients/Clinician"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicians"
import { applyUnsubscriptions, UnsubscriptionRepository } from "@outreach/domain/suppressions/Unsubscriptions"
import { SuppressionRepository } from "@outreach/domain/suppressions/Withdrawals"
import { parseInput } from "@outreach/domain/textSchema"
import { KEY_RECIPIENTS } from "@outreach/testing/outreachOn"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { recordHits } from "@outreach/testing/recordHits"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { copyCampaign, email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { column, sql, untilBlocked, value, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Deferred, Effect, Fiber, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"

const { run, test } = testsOnDatabase()

// Claims, inbox appliers and workers process all organizations, so each test starts without pending work.
beforeEach(() =>
  run(function* () {
    yield* cancelCampaigns
    for (const table of ["inbox", "inbox_keys"]) yield* sql`delete from ${sql(table)}`
    yield* sql`update webhook_endpoints set enabled = false`
  }),
)

const person = { npi: npi(0), email: email(0) }
const byNpi: Clinician = { npi: person.npi, email: null }

/** Seeds an organization with published recipients and the leases of their messages; the person's lease is the first. */
const seedLeases = Effect.fnUntraced(function* (recipients: number) {
  const seeded = yield* seedCampaign({ recipients })
  yield* sendCampaign(seeded.campaign.id)
  const leases = yield* claimMessages(10, { leaseSeconds: 600 })
  return { ...seeded, leases: leases.toSorted((a, b) => a.email.localeCompare(b.email)) }
})

/** Seeds the same organization after all messages were sent. */
const seedSent = Effect.fnUntraced(function* (recipients: number) {
  const seeded = yield* seedLeases(recipients)
  for (const lease of seeded.leases) yield* settleSent(lease)
  return { ...seeded, id: seeded.organization.id, recipientId: seeded.leases[0]!.recipientId }
})

const recordHit = (organizationId: OrganizationId, recipientId: RecipientId) =>
  recordHits({ organizationId, recipientId, headers: { "user-agent": "Mail" } })

const bounced = { _tag: "Bounced", reason: "mailbox_disabled" } as const
const by = { operator: "Dana Reyes", command: null, release: "test" }
const erase = (organizationId: OrganizationId, clinician = byNpi) => eraseClinician(organizationId, clinician, by)

/** Erases the person. Pauses before the commit of the first transaction to run `during`. */
const eraseAround = Effect.fnUntraced(function* <A, E, R>(
  organizationId: OrganizationId,
  during: Effect.Effect<A, E, R>,
) {
  const written = yield* Deferred.make<void>()
  const over = yield* Deferred.make<void>()
  const stop = Effect.all([
    // On a busy machine the transaction may stay idle for longer than the service allows.
    sql`set local idle_in_transaction_session_timeout = 0`,
    Deferred.succeed(written, undefined),
    Deferred.await(over),
  ]).pipe(Effect.orDie, Effect.provideContext(yield* Effect.context<SqlClient.SqlClient>()))
  const erasing = yield* erase(organizationId).pipe(
    Effect.updateService(ErasureRepository, (erasures) => ({
      ...erasures,
      begin: (...args) => Effect.asVoid(Effect.andThen(erasures.begin(...args), stop)),
    })),
    Effect.forkChild,
  )
  yield* Deferred.await(written)
  const result = yield* Effect.ensuring(during, Deferred.succeed(over, undefined))
  expect((yield* Fiber.join(erasing)).outcome).toBe("erased")
  return result
})

const typesOf = (organizationId: OrganizationId, recipientId: RecipientId) =>
  column<string>`
    select type from events where organization_id = ${organizationId} and recipient_id = ${recipientId} order by emitted_at`

const countOf = (table: string, organizationId: OrganizationId) =>
  value<number>`select count(*)::int as count from ${sql(table)} where organization_id = ${organizationId}`

describe("the outcome of a message", () => {
  test("waits for a running erasure, and doesn't leave data of the erased recipient", function* () {
    const { id, recipientId } = yield* seedSent(2)
    yield* recordHit(id, recipientId)
    const { ask } = yield* UnsubscriptionRepository
    const during = Effect.gen(function* () {
      const late = [
        recordHit(id, recipientId),
        judgeHits(id),
        reportBounce(recipientId, bounced),
        ask({ organizationId: id, recipientId }),
      ]
      const fibers = yield* Effect.forEach(late, (each) =>
        Effect.forkDetach(each as typeof each & Effect.Effect<unknown>),
      )
      yield* untilBlocked(late.length)
      return fibers
    })
    const fibers = yield* eraseAround(id, during)
    const [, judged, bounce, asked] = yield* Effect.forEach(fibers, (fiber) => Fiber.join<unknown, unknown>(fiber))
    expect({ judged, bounce, asked }).toEqual({ judged: 1, bounce: "unknown", asked: true })

    expect(yield* typesOf(id, recipientId)).toEqual(["outreach.email_sent"])
    expect(yield* sql`select address, headers from hits where organization_id = ${id}`).toEqual([
      { address: "", headers: {} },
    ])
    expect(yield* countOf("unsubscriptions", id)).toBe(0)
  })

  test("isn't recorded for an erased recipient, but for other recipients", function* () {
    const { id, recipientId, leases } = yield* seedSent(2)
    yield* erase(id)
    const other = leases[1]!.recipientId
    const { ask } = yield* UnsubscriptionRepository
    for (const each of [recipientId, other]) {
      yield* recordHit(id, each)
      expect(yield* ask({ organizationId: id, recipientId: each })).toBe(true)
    }
    yield* judgeHits(id)
    expect(yield* reportBounce(recipientId, bounced)).toBe("unknown")
    expect(yield* reportBounce(other, bounced)).toBe("recorded")
    expect(yield* typesOf(id, recipientId)).toEqual(["outreach.email_sent"])
    expect(yield* typesOf(id, other)).toEqual([
      "outreach.email_sent",
      "outreach.email_opened",
      "outreach.email_bounced",
    ])
    expect([yield* countOf("hits", id), yield* countOf("unsubscriptions", id)]).toEqual([1, 1])
  })

  test("in flight is awaited, and its event is erased like the other events", function* () {
    const { organization, leases } = yield* seedLeases(2)
    const [lease] = leases
    const blocked = yield* Deferred.make<void>()
    const erasing = yield* erase(organization.id).pipe(
      Effect.updateService(SuppressionRepository, (suppressions) => ({
        ...suppressions,
        lockRecipients: (...args) =>
          Effect.tap(suppressions.lockRecipients(...args), ({ size }) =>
            size > 0 ? Deferred.succeed(blocked, undefined) : Effect.void,
          ),
      })),
      Effect.forkChild,
    )
    yield* Deferred.await(blocked)
    expect(yield* countOf("erasures", organization.id)).toBe(0)
    expect(yield* settleSent(lease!)).toBe(true)
    expect(yield* Fiber.join(erasing)).toMatchObject({
      outcome: "erased",
      certificate: { counts: { recipients: 1, events: 2, messages: 0 } },
    })
    const [sent] = yield* sql<{ body: string; token: string }>`
      select body, token from events join recipients recipient using (organization_id)
      where organization_id = ${organization.id} and recipient.id = recipient_id and recipient_id = ${lease!.recipientId}`
    expect(sent!.token).not.toBe(lease!.token)
    expect(JSON.parse(sent!.body).data.token).toBe(sent!.token)
  })
})

describe("a partner's response", () => {
  test("to an event that was erased meanwhile isn't stored, and the next attempt sends the erased body", function* () {
    const { id, recipientId, leases } = yield* seedSent(3)
    yield* recordHit(id, recipientId)
    yield* judgeHits(id)
    const worker = yield* workerOn()
    const taken = yield* worker.take()
    const events = yield* sql<{ id: string; key: string }>`
      select id, type || ' ' || coalesce(recipient_id, '') as key from events where organization_id = ${id}`
    const keys = new Map(events.map((event) => [event.id, event.key]))
    const of = (type: string, recipient: string = ""): ReadonlyArray<Delivery> =>
      taken.filter(({ eventId }) => keys.get(eventId) === `outreach.${type} ${recipient}`)
    yield* erase(id)

    const [, second, third] = leases.map((lease) => lease.recipientId)
    yield* worker.settle([...of("email_opened", recipientId), ...of("email_sent", second)])
    yield* worker.settle([...of("recipients_published"), ...of("email_sent", third)], { settlement: "rejected" }, 400)
    yield* worker.settle(of("email_sent", recipientId), { settlement: "retry", delay: 0 }, 500)
    const responses = () => sql<{ response: string | null; count: number }>`
      select response, count(*)::int as count from (
        select response from delivery_attempts where organization_id = ${id}
        union all select attempt->>'response' from dead_letters, jsonb_array_elements(attempts) attempt where organization_id = ${id}
        union all select each->'attempt'->>'response' from delivered, json_array_elements(deliveries) each where organization_id = ${id}
      ) answer group by response order by response`
    expect(yield* responses()).toEqual([
      { response: "ok", count: 2 },
      { response: null, count: 3 },
    ])

    const again = yield* worker.take()
    expect(again).toHaveLength(1)
    expect(again[0]!.body).not.toContain(leases[0]!.token)
    yield* worker.settle(again, { settlement: "rejected" }, 400)
    expect(yield* responses()).toEqual([
      { response: "ok", count: 2 },
      { response: null, count: 4 },
    ])
  })

  test("is also erased if it is being written during the erasure", function* () {
    const { id } = yield* seedSent(1)
    const worker = yield* workerOn()
    const taken = yield* worker.take()
    const erasing = yield* whileOpen(worker.settle(taken), () =>
      Effect.tap(Effect.forkDetach(erase(id)), untilBlocked(1)),
    )
    expect(yield* Fiber.join(erasing)).toMatchObject({ certificate: { counts: { events: 2, delivered: 1 } } })
    const responses = yield* sql`
      select each->'attempt'->>'response' as response from delivered, json_array_elements(deliveries) each
      where organization_id = ${id}`
    expect(responses).toEqual([{ response: null }, { response: null }])
  })
})

test("a response that is stored while the erasure still finds the clinician's data is deleted", function* () {
  const { id } = yield* seedSent(1)
  const request = { organizationId: id, key: "late", fingerprint: Buffer.from("late") }
  const { store } = yield* IdempotencyRepository
  const reading = store(request, { status: 200, headers: {}, body: person.npi }, 1000)
  yield* Effect.updateService(erase(id), ErasureRepository, (erasures) => ({
    ...erasures,
    erase: (...args) => Effect.andThen(reading, erasures.erase(...args)),
  }))
  expect(yield* countOf("stored_responses", id)).toBe(0)
})

test("a group of failures loses the line of an erased response, and keeps the dead letters with the remaining data", function* () {
  const { id, endpoint, leases } = yield* seedSent(2)
  const [person, other] = leases
  const events = yield* sql<{ id: EventId; recipient: string }>`
    select id, recipient_id as recipient from events where organization_id = ${id} and type = 'outreach.email_sent'`
  const add = (lease: typeof person, response: string) => {
    const eventId = events.find(({ recipient }) => recipient === lease!.recipientId)!.id
    const attempts = [{ response }]
    return insertDeadLetters([{ organizationId: id, endpointId: endpoint.id, eventId, reason: "rejected", attempts }])
  }
  yield* add(person, "Dana Reyes has moved")
  yield* add(other, "Sam Moss has moved")
  yield* add(other, `Sam Moss has moved, ask ${person!.token}`)
  const groups = sql`
    select first_line, open from failure_groups where organization_id = ${id} order by first_line, open`
  expect(yield* groups).toHaveLength(3)
  yield* erase(id)
  expect(yield* groups).toEqual([
    { first_line: "Sam Moss has moved", open: 1 },
    // Two groups keep their counts without a line, and one contains the dead letters.
    { first_line: null, open: 0 },
    { first_line: null, open: 0 },
    { first_line: null, open: 2 },
  ])
})

test("an address with several NPIs is rejected without an NPI, and is kept for its other owner", function* () {
  const { organization, campaign, program } = yield* seedCampaign({ recipients: 1 })
  // In a second campaign, because an address is unique in a campaign.
  const second = yield* copyCampaign(campaign.id)
  yield* sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
    select ${organization.id}, make_id('rcp'), ${second}, ${program.id}, 'other' || number, number_npi, upper(number_email),
      clock_timestamp(), clock_timestamp()
    from unnest(${[npi(1), npi(2)]}::text[], ${[person.email, email(2)]}::text[])
      with ordinality as given (number_npi, number_email, number)`
  yield* sql.unsafe(KEY_RECIPIENTS)
  const byEmail = { npi: null, email: person.email }
  expect(yield* Effect.flip(erase(organization.id, byEmail))).toMatchObject({ _tag: "SharedAddress", npis: 2 })
  expect([yield* countOf("erasures", organization.id), yield* countOf("erased_clinicians", organization.id)]).toEqual([
    0, 0,
  ])

  expect(yield* erase(organization.id)).toMatchObject({ certificate: { counts: { recipients: 1 } } })
  const erased = yield* ErasedClinicianRepository
  const found = yield* erased.find(organization.id, [{ npi: npi(1), email: person.email }, byNpi])
  expect({ npis: [...found.npis.keys()], emails: [...found.emails] }).toEqual({ npis: [person.npi], emails: [] })

  // The address now has only one owner.
  expect(yield* erase(organization.id, byEmail)).toMatchObject({ certificate: { counts: { recipients: 1 } } })
  expect((yield* erased.find(organization.id, [byEmail])).emails).toEqual(new Set([person.email]))
  const kept = yield* sql`select npi from recipients where organization_id = ${organization.id} and erased_at is null`
  expect(kept).toEqual([{ npi: npi(2) }])
})

describe("a partner's event about an erased NPI", () => {
  const slug = { consumer_program_slug: "heart-failure" }
  const data = { npi: person.npi, ...slug, attribution: "organic", token: null }

  const inboxOf = (organizationId: OrganizationId) =>
    sql<{ id: string; npi: string | null; body: string; state: string }>`
        select event_id as id, npi, body, case when applied_at is not null then 'applied' else coalesce(reason, 'waiting') end as state
        from inbox where organization_id = ${organizationId} order by event_id`
  const qualificationsOf = (organizationId: OrganizationId) =>
    sql<{ stage: string; npi: string }>`
        select stage, npi from qualifications where organization_id = ${organizationId} order by stage, npi`

  test("is applied and counted once under a pseudonym when it is repeated, isn't stored, and isn't a conflict", function* () {
    const seeded = yield* seedCampaign({ recipients: 2 })
    const { id } = seeded.organization
    const learner = [seeded, "evt_1", "clinician.learner_qualified", data] as const
    yield* receiveEvent(...learner)
    while (yield* applyBatches) {}
    yield* erase(id)
    expect(yield* receiveEvent(...learner)).toBe("repeated")
    yield* receiveEvent(seeded, "evt_2", "clinician.learner_qualified", data)
    yield* receiveEvent(seeded, "evt_3", "clinician.account_created", { ...data, email: "ann@home.test" })
    yield* receiveEvent(seeded, "evt_4", "clinician.seen", { ...data, name: "Ann" })
    yield* receiveEvent(seeded, "evt_5", "clinician.learner_qualified", { ...data, consumer_program_slug: "unknown" })
    yield* receiveEvent(seeded, "evt_6", "clinician.learner_qualified", { ...data, npi: npi(1) })
    while (yield* applyBatches) {}

    const rows = yield* inboxOf(id)
    expect(rows.slice(0, 5).map(({ npi, body }) => [npi, body.endsWith(ERASED_BODY_END)])).toEqual(
      Array.from({ length: 5 }, () => [null, true]),
    )
    expect(rows[5]).toMatchObject({ npi: npi(1), state: "applied" })
    expect(rows.map(({ state }) => state === "applied")).toEqual([true, true, true, true, false, true])
    const pseudonym = expect.stringMatching(/^erased [0-9a-f]{64}$/)
    expect(yield* qualificationsOf(id)).toEqual([
      { stage: "account_created", npi: pseudonym },
      ...[npi(1), pseudonym].map((npi) => ({ stage: "learner_qualified", npi })),
    ])
    expect(yield* countOf("suppressions", id)).toBe(0)
    const { emails } = yield* (yield* ErasedClinicianRepository).find(id, [
      { npi: null, email: "Ann@home.test" as never },
    ])
    expect(emails).toEqual(new Set(["ann@home.test"]))
  })

  test("during the erasure of the inbox is applied before its body is erased", function* () {
    const seeded = yield* seedCampaign({ recipients: 1 })
    const { id } = seeded.organization
    yield* receiveEvent(seeded, "evt_1", "clinician.learner_qualified", data)
    const inbox = yield* InboxRepository
    const receive = receiveEvent(seeded, "evt_2", "clinician.completer_qualified", data).pipe(
      Effect.provideService(InboxRepository, inbox),
    )
    yield* erase(id).pipe(
      Effect.updateService(ErasureRepository, (erasures) => ({
        ...erasures,
        erase: (state, table) =>
          Effect.andThen(table === "inbox" ? receive : Effect.void, erasures.erase(state, table)),
      })),
    )
    while (yield* applyBatches) {}
    const rows = yield* inboxOf(id)
    expect(rows.map(({ npi, state, body }) => ({ npi, state, isErased: body.endsWith(ERASED_BODY_END) }))).toEqual(
      Array.from({ length: 2 }, () => ({ npi: null, state: "applied", isErased: true })),
    )
    expect((yield* qualificationsOf(id)).map(({ stage }) => stage)).toEqual([
      "completer_qualified",
      "learner_qualified",
    ])
  })
})

describe("eraseRecipients", () => {
  test("erases records and their events once, without suppressing the person or changing suppressions and other records", function* () {
    const { organization, campaign, program } = yield* seedCampaign({ recipients: 3, opensIn: 3600 })
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    yield* (yield* SuppressionRepository).add(
      organization.id,
      [{ programId: program.id, npi: npi(0), email: null }],
      "unsubscribed",
    )
    const recipients = yield* sql<{ id: RecipientId; token: string }>`
      select id, token from recipients where organization_id = ${organization.id} and npi = any (${[npi(0), npi(1)]})`
    const ids = recipients.map(({ id }) => id)
    yield* sql`
      insert into recipient_fields (organization_id, recipient_id, fields)
      select organization_id, id, jsonb_build_object('npi', npi) from recipients where organization_id = ${organization.id}`
    expect(yield* eraseRecipients(organization.id, ids)).toBe(2)
    expect(yield* eraseRecipients(organization.id, ids)).toBe(0)

    expect(yield* sql`select fields from recipient_fields where organization_id = ${organization.id}`).toEqual([
      { fields: { npi: npi(2) } },
    ])
    const [kept] = yield* sql<Record<"recipients" | "events" | "messages" | "suppressions" | "hashes", string>>`
      select (select string_agg(npi || email || token, ' ') from recipients where organization_id = ${organization.id}) as recipients,
        (select string_agg(body, ' ') from events where organization_id = ${organization.id}) as events,
        (select count(*)::text from messages where organization_id = ${organization.id}) as messages,
        (select string_agg(value, ' ') from suppressions where organization_id = ${organization.id}) as suppressions,
        (select count(*)::text from erased_clinicians where organization_id = ${organization.id}) as hashes`
    for (const text of [kept!.recipients, kept!.events]) {
      for (const gone of [npi(0), npi(1), email(0), email(1), ...recipients.map(({ token }) => token)]) {
        expect(text).not.toContain(gone)
      }
      expect(text).toContain(npi(2))
    }
    expect(kept).toMatchObject({ messages: "1", suppressions: npi(0), hashes: "0" })
  })

  test("skips recipients with a pending unsubscription", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 2 })
    const ids = yield* column<RecipientId>`select id from recipients where campaign_id = ${campaign.id} order by id`
    yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId: ids[0]! })
    expect(yield* eraseRecipients(organization.id, ids)).toBe(1)
    yield* applyUnsubscriptions
    expect(yield* eraseRecipients(organization.id, ids)).toBe(1)
    expect(yield* sql`select from suppressions where organization_id = ${organization.id}`).toHaveLength(2)
  })
})

describe("a subject", () => {
  const subject = {
    npis: ["1234567893"],
    emails: ["ann+a@clinic.test"],
    recipients: [{ id: "rcp_0" as RecipientId, token: "aB3dE9" }],
  }
  const matches = createMatcher(subject)
  const isCandidate = (text: string) =>
    likePatterns(subject).some((pattern) =>
      text.toLowerCase().includes(pattern.slice(1, -1).replaceAll(/\\([\\%_])/g, "$1")),
    )

  it.each([
    ...['{"npi":"1234567893"}', "mail to ANN+A@Clinic.Test.", '"ann+a\\u0040clinic.test"'],
    ...['"line\\nann+a@clinic.test"', "?to=ann%2Ba%40clinic.test"],
    `/${Buffer.from("to ann+a@clinic.test").toString("base64url")}`,
    Buffer.from("..1234567893").toString("base64"),
    "https://go.test/aB3dE9",
  ])("is found in %j", (text) => {
    expect({ matches: matches(text), isCandidate: isCandidate(text) }).toEqual({ matches: true, isCandidate: true })
  })

  it.each([
    ...["91234567893", "joann+a@clinic.test", "ann+a@clinic.tests", "ann+a@clinic.test.example", "xaB3dE9"],
    "ab3de9",
  ])("isn't found in %j", (text) => {
    expect(matches(text)).toBe(false)
  })

  it("uses different placeholders that aren't valid NPIs", () => {
    const numbers = [0, 1, 9, 10, 99_999_999]
    const fault = Result.fail(expect.objectContaining({ reason: "the NPI's check digit is wrong" }))
    expect(numbers.map((number) => parseInput(Npi)(placeholderOf(number).npi))).toEqual(numbers.map(() => fault))
    expect(new Set(numbers.map((number) => placeholderOf(number).email)).size).toBe(numbers.length)
  })
})
