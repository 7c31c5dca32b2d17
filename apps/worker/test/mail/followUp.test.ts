import { describe, expect, it } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { type CampaignId, createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { FOOTER, npi } from "@outreach/testing/seedCampaign"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, launch, query } = journey()

const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"

describe("the workers", () => {
  it("send a follow-up to those who have not clicked, announced before it goes out, and leave out those who click meanwhile", async () => {
    const to = await partner()
    const mail = await mailServer()
    const { organization, endpoint, program, campaign } = await launch(to, 8)
    await runWorker(url(), { SMTP_URL: mail.url })
    await runWorker(url(), { SMTP_URL: mail.url })
    const until = (id: CampaignId, wanted: string) =>
      eventually(
        () => run(Effect.flatMap(CampaignRepository, (campaigns) => campaigns.find(id))),
        ({ status }) => status === wanted,
      )
    await until(campaign.id, "completed")
    const recipientsOf = (id: CampaignId) =>
      query<{ id: RecipientId; npi: string; email: string; token: string; reason: string | null }>(
        (sql) => sql`
          select id, npi, email, token, withdrawal_reason as reason from recipients where campaign_id = ${id} order by npi`,
      )
    const first = await recipientsOf(campaign.id)

    const click = (clicks: ReadonlyArray<readonly [index: number, agent: string]>) =>
      run(
        Effect.gen(function* () {
          const cameAt = yield* Clock.currentTimeMillis
          const hits = yield* Effect.forEach(
            clicks,
            Effect.fnUntraced(function* ([index, agent]) {
              return {
                id: yield* createIdentifier("hit"),
                organizationId: organization.id,
                recipientId: first[index]!.id,
                link: "https://clinic.test/",
                method: "GET",
                address: `198.51.100.${index}`,
                headers: { "user-agent": agent },
                cameAt,
              }
            }),
          )
          yield* (yield* HitRepository).record(hits)
        }),
      )
    const judged = (count: number) =>
      eventually(
        () => query((sql) => sql`select from hits where judged_at is not null`),
        ({ length }) => length === count,
      )
    // The e-mails were sent six days ago.
    await query(
      (sql) => sql`update recipients set sent_at = sent_at - interval '6 days' where campaign_id = ${campaign.id}`,
    )
    await click([
      [0, BROWSER],
      [1, "curl/8.5.0"],
    ])
    await judged(2)
    await run(
      receiveEvent({ organization, endpoint }, `evt_${"5e7a51de".repeat(4)}`, "clinician.account_created", {
        npi: first[2]!.npi,
        email: first[2]!.email,
        consumer_program_slug: program.slug,
        attribution: "organic",
        token: null,
      }),
    )
    await eventually(
      () => query((sql) => sql`select from suppressions`),
      ({ length }) => length > 0,
    )

    const followUp = await run(
      Effect.gen(function* () {
        const start = (yield* Clock.currentTimeMillis) + 1_800_000
        const created = yield* createCampaign({
          programId: program.id,
          name: "Reminder",
          kind: "traffic",
          subject: "Your seat is still free",
          html: `<p>https://l.test/{{ token }}</p>${FOOTER}`,
          windowStart: fromUnixMillis(start),
          windowEnd: fromUnixMillis(start + 3_600_000),
          followUp: { followUpOf: campaign.id, unless: "clicked", afterSeconds: 5 * 86_400 },
        })
        return yield* scheduleCampaign(created.id)
      }),
    )
    await until(followUp.id, "published")
    const drawn = await recipientsOf(followUp.id)
    expect(drawn.map(({ npi }) => npi)).toEqual(first.filter((_, i) => i !== 0 && i !== 2).map(({ npi }) => npi))
    const announced = await eventually(
      () =>
        to.received.filter(
          ({ event: { event_type, data } }) =>
            event_type === "outreach.recipients_published" && data["service_campaign_id"] === followUp.id,
        ),
      ({ length }) => length > 0,
    )
    const tokens = announced.flatMap(({ event }) => event.data["recipients"] as ReadonlyArray<{ token: string }>)
    expect(tokens.map(({ token }) => token).sort()).toEqual(drawn.map(({ token }) => token).sort())
    expect(mail.messages).toHaveLength(8)

    // Between the publication and the window, somebody clicks on the first e-mail.
    await click([[3, BROWSER]])
    await judged(3)
    await run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${followUp.id}`
        yield* sql`update campaigns set window_start = clock_timestamp() where id = ${followUp.id}`
      }),
    )
    await until(followUp.id, "completed")
    const reminded = drawn.filter(({ npi }) => npi !== first[3]!.npi)
    expect(
      mail.messages
        .slice(8)
        .map(({ to }) => to[0])
        .sort(),
    ).toEqual(reminded.map(({ email }) => email).sort())
    expect((await recipientsOf(followUp.id)).filter(({ reason }) => reason !== null)).toMatchObject([
      { npi: first[3]!.npi, reason: "clicked" },
    ])
    const state = await run(
      Effect.flatMap(FollowUpRepository, (followUps) => followUps.find({ ...followUp, campaignId: followUp.id })),
    )
    expect(state?.skipped).toEqual({ clicked: 1, suppressed: 1 })
    expect(first.map((recipient) => recipient.npi)).toContain(npi(7))
  })
})
