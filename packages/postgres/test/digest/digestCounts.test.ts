import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import type { FunnelStage } from "@outreach/domain/digest/Digest"
import { EventPublisher } from "@outreach/domain/events/Event"
import { createIdentifier, type EndpointId, type RecipientId } from "@outreach/domain/Identifier"
import { createProgram } from "@outreach/domain/programs/Programs"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { DIGEST_COLUMNS } from "@outreach/postgres/digest/digestColumns"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { draftsOf, insertRecipients, type Outcome, outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { recountDigest } from "@outreach/testing/recountDigest"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { copyCampaign, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql, value } from "@outreach/testing/sql"
import { Effect } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"

const { run, test } = testsOnDatabase()
const recipients = (count: number) => Effect.all(Array.from({ length: count }, () => createIdentifier("recipient")))

/** Two campaigns of one organization, each in a separate program. */
const twoPrograms = Effect.gen(function* () {
  const { organization, endpoint, campaign, program: first } = yield* seedCampaign({ recipients: 0 })
  const program = yield* createProgram({
    ...{ organizationId: organization.id, slug: "second", name: "Second" },
    learnerTarget: 2,
  })
  const second = { ...campaign, id: yield* copyCampaign(campaign.id, program.id), programId: program.id }
  return { organization, endpoint, campaigns: [campaign, second] as const, slugs: [first.slug, program.slug] }
})

const DATES = ["2026-02-27", "2026-02-28", "2026-03-01"] as const
const HITS = ["human opened", "bot opened", "human clicked", "bot clicked"] as const
const OUTCOMES: ReadonlyArray<Outcome> = ["sent", ...HITS, "bounced"]
const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]
const transaction = fc.record({
  day: fc.nat({ max: DATES.length - 1 }),
  program: fc.nat({ max: 1 }),
  outcomes: fc.array(fc.tuple(fc.nat({ max: 3 }), fc.constantFrom(...OUTCOMES)), { maxLength: 12 }),
  qualifications: fc.array(
    fc.record({ stage: fc.constantFrom(...STAGES), npi: fc.constantFrom("1000000004", "1234567893") }),
    { maxLength: 4 },
  ),
})

it("finds no differences after any events on any dates", () =>
  fc.assert(
    fc.asyncProperty(fc.array(transaction, { minLength: 1, maxLength: 10 }), (transactions) =>
      run(function* () {
        const { organization, campaigns } = yield* twoPrograms
        const ids = [yield* recipients(4), yield* recipients(4)]
        // Timestamps never decrease.
        for (const [n, { day, program, outcomes, qualifications }] of [...transactions]
          .sort((a, b) => a.day - b.day)
          .entries()) {
          const at = `${DATES[day]}T10:00:00.0000${String(n).padStart(2, "0")}Z` as CommitTimestamp
          const { programId } = campaigns[program]!
          yield* outreachOn(
            at,
            campaigns[program]!,
            outcomes.map(([who, what]) => [ids[program]![who]!, what] as const),
          )
          const clinicians = qualifications.map((each) => ({ programId, ...each }))
          yield* inTransaction(qualifyOn(organization.id, clinicians, at))
        }
        for (const date of DATES) expect(yield* recountDigest(date, organization.id)).toEqual([])
      }),
    ),
    { numRuns: propertyRuns(3) },
  ))

test("finds both equal after concurrent transactions, over a midnight", function* () {
  const TRANSACTIONS = 80
  const { organization, endpoint, campaigns, slugs } = yield* twoPrograms
  // Timestamps increase by a microsecond from here, so about half of them are after midnight.
  yield* sql`update organization_clock set last = '2999-12-31T23:59:59.999960Z' where organization_id = ${organization.id}`
  const recipientIds = [yield* recipients(20), yield* recipients(20)]
  for (const [i, ids] of recipientIds.entries()) yield* insertRecipients(campaigns[i]!, ids)
  const task = { campaigns, slugs, endpointId: endpoint.id, recipientIds }
  yield* Effect.forEach(
    Array.from({ length: TRANSACTIONS }, (_, n) => n),
    (n) => write(task, n),
    { concurrency: 6, discard: true },
  )
  for (const date of ["2999-12-31", "3000-01-01"]) {
    expect(yield* recountDigest(date, organization.id)).toEqual([])
    const kept = yield* value<number>`
      select sum(sent + bounced + opened + clicked)::int as events from digest_outreach
      where organization_id = ${organization.id} and date = ${date}::date`
    expect(kept).toBeGreaterThan(50)
  }
  yield* sql`update digest_outreach set sent = sent + 1 where organization_id = ${organization.id} and date = '3000-01-01'`
  const differs = campaigns.map(() => expect.objectContaining({ count: "sent" }))
  expect(yield* recountDigest("3000-01-01", organization.id)).toEqual(differs)
  expect((yield* sql`select from qualifications where organization_id = ${organization.id}`).length).toBeGreaterThan(20)
})

test("the table has a column for each figure of the events that the digest counts", function* () {
  const columns = yield* sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = 'digest_outreach'::regclass and attnum > 0 and atttypid = 'integer'::regtype`
  const figures = ["recipients_published", ...DIGEST_COLUMNS.map(({ name }) => name)]
  expect(columns.map(({ name }) => name).sort()).toEqual(figures.sort())
})

/** The input of a writer. */
interface WriterTask {
  readonly endpointId: EndpointId
  /** Campaigns of one organization, each in a separate program. */
  readonly campaigns: ReadonlyArray<Campaign>
  readonly recipientIds: ReadonlyArray<ReadonlyArray<RecipientId>>
  readonly slugs: ReadonlyArray<string>
}

const pick = <A>(from: ReadonlyArray<A>, n: number): A => from[n % from.length]!

/** Writes events that the digest counts, and rolls some of them back. */
const write = Effect.fnUntraced(function* (task: WriterTask, n: number) {
  const { endpointId, campaigns, recipientIds, slugs } = task
  const seed = (n >> 2) * 7 + (n % 4)
  const campaign = pick(campaigns, seed)
  const { organizationId } = campaign
  const outcomes = Array.from(
    { length: 1 + (seed % 9) },
    (_, i) => [pick(pick(recipientIds, seed), seed * i), pick(OUTCOMES, seed + i)] as const,
  )
  const events = yield* draftsOf(campaign, outcomes)
  yield* inTransaction(
    Effect.gen(function* () {
      const at = yield* commitTimestamp(organizationId)
      yield* EventPublisher.use(({ publish }) => publish(events, at))
      if (seed % 11 === 0) return yield* Effect.fail("taken back")
    }),
  ).pipe(
    Effect.catchIf(
      (error) => error === "taken back",
      () => Effect.void,
    ),
  )
  const from = { organization: { id: organizationId }, endpoint: { id: endpointId } }
  for (let i = 0; i < seed % 4; i++) {
    yield* receiveEvent(from, yield* createIdentifier("event"), `clinician.${pick(STAGES, seed + i)}`, {
      npi: npi(seed % 97),
      email: `clinician${seed % 97}@clinic.test`,
      consumer_program_slug: pick(slugs, seed),
    })
  }
  yield* applyBatches
})
