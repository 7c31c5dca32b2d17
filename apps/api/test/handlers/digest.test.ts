import type { FunnelStage } from "@outreach/domain/digest/Digest"
import { composeEvent, EventPublisher } from "@outreach/domain/events/Event"
import { createIdentifier, type OrganizationId, type ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { type Seeded, startApi, type TestApi } from "../startApi.ts"

const api = startApi()
let seed: Awaited<ReturnType<TestApi["seed"]>>
beforeAll(async () => {
  seed = await api().seed(0)
})

const digest = async (date: string, from = seed.key) => {
  const { status, body } = await ask(api(), `/v1/partners/consumer/digest?date=${date}`, { key: from })
  expect(status).toBe(200)
  return body
}
const addProgram = (organizationId: OrganizationId, slug: string, learnerTarget: number | null = null) =>
  api().run(function* () {
    const program = { organizationId, slug, name: slug, learnerTarget, completerTarget: null }
    return yield* (yield* ProgramRepository).create({ ...program, id: yield* createIdentifier("program") })
  })
const recipients = (count: number) =>
  api().run(Effect.all(Array.from({ length: count }, () => createIdentifier("recipient"))))
const qualify = (
  { organization }: Pick<Seeded, "organization">,
  programId: ProgramId,
  at: string,
  ...stages: ReadonlyArray<FunnelStage>
) =>
  api().run(
    inTransaction(
      // Each is a different clinician.
      qualifyOn(
        organization.id,
        stages.map((stage, i) => ({ programId, stage, npi: `${at} ${i}` })),
        at as CommitTimestamp,
      ),
    ),
  )
const outreach = (...[stamp, campaign, outcomes]: Parameters<typeof outreachOn>) =>
  api().run(outreachOn(stamp, campaign, outcomes))

/** The current date by the database's clock, and the next one. */
const today = () =>
  api()
    .run(sql<{ today: string; tomorrow: string }>`
      select today::text, (today + 1)::text as tomorrow from (select (clock_timestamp() at time zone 'UTC')::date as today)`)
    .then((rows) => rows[0]!)

const NO_HITS = { opened: 0, clicked: 0, unique_opened: 0, unique_clicked: 0 }
const NO_OUTREACH = { recipients_published: 0, sent: 0, bounced: 0, ...NO_HITS, without_suspected_bots: NO_HITS }
const funnel = (account_created: number, learner_qualified: number, completer_qualified: number) => ({
  account_created,
  learner_qualified,
  completer_qualified,
})
const noTarget = (count: number) => ({ target: null, count, remaining: null, reached_at: null })

it("contains every count of the date, and no counts of adjacent dates", async () => {
  const { program, campaign } = seed
  const [ann, bob, cy] = await recipients(3)
  await api().run(function* () {
    const about = {
      id: yield* createIdentifier("event"),
      organizationId: campaign.organizationId,
      campaignId: campaign.id,
      programId: program.id,
      recipientId: null,
    }
    const seat = { token: "aB3dE9", npi: "1234567893", email: "a@clinic.test", service_recipient_id: ann! }
    const published = composeEvent("outreach.recipients_published", about, {
      service_campaign_id: campaign.id,
      service_program_id: program.id,
      service_campaign_name: "",
      service_program_name: "",
      consumer_program_slug: "",
      scheduled_send_window_start: campaign.windowStart,
      scheduled_send_window_end: campaign.windowEnd,
      recipients: [seat, seat, seat],
    })
    yield* inTransaction(
      EventPublisher.use(({ publish }) => publish([published], "2026-02-03T00:00:00.000000Z" as CommitTimestamp)),
    )
  })
  await outreach("2026-02-02T23:59:59.999999Z", campaign, [[ann!, "human opened"]])
  await outreach("2026-02-03T00:00:00.000000Z", campaign, [
    [ann!, "sent"],
    [bob!, "sent"],
    [cy!, "bounced"],
    [ann!, "bot opened"],
    [bob!, "bot clicked"],
  ])
  await outreach("2026-02-03T23:59:59.999999Z", campaign, [
    [ann!, "human opened"],
    [ann!, "human opened"],
    [bob!, "bot opened"],
    [bob!, "bot clicked"],
    [ann!, "human clicked"],
  ])
  await outreach("2026-02-04T00:00:00.000000Z", campaign, [[ann!, "sent"]])
  await qualify(seed, program.id, "2026-02-02T12:00:00.000000Z", "account_created", "account_created")
  await qualify(seed, program.id, "2026-02-03T00:00:00.000000Z", "account_created", "learner_qualified")
  await qualify(seed, program.id, "2026-02-03T23:59:59.999999Z", "completer_qualified", "learner_qualified")
  await qualify(seed, program.id, "2026-02-04T00:00:00.000000Z", "account_created")

  expect(await digest("2026-02-03")).toEqual({
    object: "digest",
    livemode: false,
    date: "2026-02-03",
    data: [
      {
        object: "digest_record",
        livemode: false,
        date: "2026-02-03",
        program: {
          object: "program",
          livemode: false,
          id: program.id,
          slug: program.slug,
          name: program.name,
          status: program.status,
        },
        funnel: { date: funnel(1, 2, 1), cumulative: funnel(3, 2, 1) },
        outreach: {
          recipients_published: 3,
          sent: 2,
          bounced: 1,
          opened: 4,
          clicked: 3,
          unique_opened: 2,
          unique_clicked: 2,
          without_suspected_bots: { opened: 2, clicked: 1, unique_opened: 1, unique_clicked: 1 },
        },
        quota: { learner_qualified: noTarget(2), completer_qualified: noTarget(1) },
      },
    ],
  })
})

it("programs are all listed, oldest first, even without counts, but not another organization's", async () => {
  const seed = await api().seed(0)
  const programs = [
    seed.program,
    await addProgram(seed.organization.id, "zz"),
    await addProgram(seed.organization.id, "aa"),
  ]
  const stranger = await api().seed(0)
  const [ann] = await recipients(1)
  await outreach("2026-02-03T09:00:00.000000Z", seed.campaign, [[ann!, "sent"]])
  await outreach("2026-02-03T09:00:00.000000Z", stranger.campaign, [[ann!, "bounced"]])
  await qualify(stranger, stranger.program.id, "2026-02-03T09:00:00.000000Z", "account_created")

  const { data } = await digest("2026-02-03", seed.key)
  expect(data.map((record: { program: { id: string } }) => record.program.id)).toEqual(programs.map(({ id }) => id))
  expect(data[0].outreach).toEqual({ ...NO_OUTREACH, sent: 1 })
  for (const record of data.slice(1)) {
    expect(record).toMatchObject({
      funnel: { date: funnel(0, 0, 0), cumulative: funnel(0, 0, 0) },
      outreach: NO_OUTREACH,
      quota: { learner_qualified: noTarget(0), completer_qualified: noTarget(0) },
    })
  }
  expect(data.map(({ funnel }: { funnel: object }) => funnel)).toEqual(Array(3).fill(data[1].funnel))
})

it("the date may be today in UTC, and not tomorrow", async () => {
  let day = await today()
  for (;;) {
    const current = await ask(api(), `/v1/partners/consumer/digest?date=${day.today}`, { key: seed.key })
    const future = await ask(api(), `/v1/partners/consumer/digest?date=${day.tomorrow}`, { key: seed.key })
    const after = await today()
    if (after.today === day.today) {
      expect(current.status).toBe(200)
      expect([future.status, future.body.error.code, future.body.error.details]).toEqual([
        400,
        "INVALID_PARAMETER",
        { parameter: "date" },
      ])
      return
    }
    day = after
  }
})
