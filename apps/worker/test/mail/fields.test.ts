import { expect, it } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, query } = journey()

it("sends each recipient their own fields, and quarantines the message of one who lacks a field without delaying the others", async () => {
  const mail = await mailServer()
  const names = ["Ann & Lee", "Bo\r\nBcc: all@x.test", "<b>Cy</b>", "Di", "Émile"]
  const { campaign } = await run(
    Effect.gen(function* () {
      const seeded = yield* seedCampaign({ recipients: 0, fields: ["first_name", "specialty"] })
      const lines = names.map((first_name, i) => ({ number: i, npi: npi(i), email: email(i), fields: { first_name } }))
      yield* importLines(seeded.campaign.id, lines)
      yield* scheduleCampaign(seeded.campaign.id)
      return seeded
    }),
  )
  await query(
    (sql) => sql`
    update campaigns set subject = 'For {{ first_name }}', html = '<p>Dear {{ first_name }}, {{ specialty | default: "doctor" }}</p>'
    where id = ${campaign.id}`,
  )
  await query(
    (sql) => sql`
    update recipient_fields set fields = '{}' where recipient_id = (select id from recipients where npi = ${npi(3)})`,
  )
  await runWorker(url(), { SMTP_URL: mail.url })

  const campaigns = <A>(use: (campaigns: CampaignRepository["Service"]) => Effect.Effect<A, unknown>) =>
    run(Effect.flatMap(CampaignRepository, use))
  await eventually(
    () => campaigns(({ find }) => find(campaign.id)),
    ({ status }) => status === "completed",
  )
  const textTo = (n: number) => mail.messages.find(({ to }) => to[0] === email(n))?.text
  expect(mail.messages).toHaveLength(names.length - 1)
  expect(textTo(0)).toContain("Subject: For Ann & Lee\r\n")
  expect(textTo(0)).toContain("<p>Dear Ann &amp; Lee, doctor</p>")
  expect(textTo(0)).toContain("Dear Ann & Lee, doctor\r\n")
  expect(textTo(1)).toContain("Subject: For Bo Bcc: all@x.test\r\n")
  expect(textTo(1)?.split("\r\n\r\n")[0]).not.toMatch(/^Bcc:/m)
  expect(textTo(2)).toContain("<p>Dear &lt;b&gt;Cy&lt;/b&gt;, doctor</p>")
  expect(textTo(4)).toContain("Dear =C3=89mile, doctor")
  expect(await campaigns(({ quarantined }) => quarantined(campaign.id))).toMatchObject([
    { unknownOutcomes: 0, class: "template", code: "needs first_name, which is missing" },
  ])
  expect(await query((sql) => sql`select from events where body like '%Ann%'`)).toEqual([])
})
