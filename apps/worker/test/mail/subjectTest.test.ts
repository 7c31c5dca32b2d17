import { describe, expect, it } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { SubjectTestRepository } from "@outreach/domain/campaigns/SubjectTestRepository"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import type { TestSubject } from "@outreach/domain/mail/Message"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Clock, Effect } from "effect"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, query } = journey()

const RECIPIENTS = 120
const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"

interface Row {
  readonly id: RecipientId
  readonly email: string
  readonly testSubject: TestSubject | null
  readonly isSent: boolean
}

describe("the workers", () => {
  it("send both subjects to the test group, and the one that people click on to all others, each recipient one message", async () => {
    const mail = await mailServer()
    const { organization, campaign } = await run(
      Effect.gen(function* () {
        const subjectTest = { subjectB: "A seat is kept for you", share: 30, afterSeconds: 1800 }
        const seeded = yield* seedCampaign({ recipients: RECIPIENTS, subjectTest })
        yield* scheduleCampaign(seeded.campaign.id)
        return seeded
      }),
    )
    await runWorker(url(), { SMTP_URL: mail.url })
    await runWorker(url(), { SMTP_URL: mail.url })
    const recipients = () =>
      query<Row>(
        (sql) => sql`
          select id, email, test_subject as "testSubject", sent_at is not null as "isSent" from recipients
          where campaign_id = ${campaign.id} order by id`,
      )
    const tested = await eventually(recipients, (rows) => {
      const group = rows.filter(({ testSubject }) => testSubject !== null)
      return group.length > 0 && group.every(({ isSent }) => isSent)
    })
    const of = (subject: TestSubject | null) => tested.filter(({ testSubject }) => testSubject === subject)
    expect([of("a").length > 0, of("b").length > 0, of(null).some(({ isSent }) => isSent)]).toEqual([true, true, false])

    // A scanner follows every link of A; a person follows one of B.
    const clicks = [
      ...of("a").map(({ id }) => ({ recipientId: id, agent: "curl/8.5.0" })),
      { recipientId: of("b")[0]!.id, agent: BROWSER },
    ]
    await run(
      Effect.gen(function* () {
        const hits = yield* Effect.forEach(
          clicks,
          Effect.fnUntraced(function* ({ recipientId, agent }, i) {
            return {
              id: yield* createIdentifier("hit"),
              organizationId: organization.id,
              recipientId,
              link: "https://clinic.test/",
              method: "GET",
              address: `198.51.100.${i}`,
              headers: { "user-agent": agent },
              cameAt: (yield* Clock.currentTimeMillis) + 60_000,
            }
          }),
        )
        yield* (yield* HitRepository).record(hits)
      }),
    )
    await eventually(
      () => query((sql) => sql`select from hits where judged_at is not null`),
      ({ length }) => length === clicks.length,
    )
    expect((await recipients()).filter(({ testSubject, isSent }) => testSubject === null && isSent)).toEqual([])

    await query((sql) => sql`update subject_tests set began_at = began_at - interval '30 minutes'`)
    const status = () => run(Effect.flatMap(CampaignRepository, (campaigns) => campaigns.find(campaign.id)))
    await eventually(status, ({ status }) => status === "completed")
    const decided = await run(
      Effect.flatMap(SubjectTestRepository, (tests) => tests.find({ ...campaign, campaignId: campaign.id })),
    )
    expect(decided).toMatchObject({
      winner: "b",
      counts: { a: { sent: of("a").length, clicked: 0 }, b: { sent: of("b").length, clicked: 1 } },
    })
    expect(mail.messages).toHaveLength(RECIPIENTS)
    const subjects = new Map(mail.messages.map(({ to, text }) => [to[0], /^Subject: (.*)$/m.exec(text)?.[1]?.trim()]))
    for (const { email, testSubject } of tested) {
      const expected = testSubject === "a" ? "An invitation to Heart failure" : "A seat is kept for you"
      expect(subjects.get(email)).toBe(expected)
    }
  })
})
