import { describe, expect, it } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { changePauseOnComplaints, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportComplaint } from "@outreach/domain/mail/Complaints"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run } = journey()

describe("the worker", () => {
  it("pauses a campaign for its complaints, and lets it go on once it is resumed", async () => {
    const { campaignId, recipients } = await run(
      Effect.gen(function* () {
        const { campaign, organization } = yield* seedCampaign({ recipients: 4, opensIn: 3600 })
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          insert into campaign_count_changes (organization_id, campaign_id, sent)
          values (${organization.id}, ${campaign.id}, 1000)`
        yield* changePauseOnComplaints(campaign.id, true)
        yield* scheduleCampaign(campaign.id)
        const rows = yield* sql<{ id: RecipientId }>`select id from recipients where campaign_id = ${campaign.id}`
        return { campaignId: campaign.id, recipients: rows.map(({ id }) => id) }
      }),
    )
    const find = () => run(Effect.flatMap(CampaignRepository, (campaigns) => campaigns.find(campaignId)))
    const untilStatus = (wanted: string) => eventually(find, ({ status }) => status === wanted)
    const complain = (ids: ReadonlyArray<RecipientId>) =>
      run(Effect.forEach(ids, (id) => reportComplaint(id, "abuse"), { concurrency: "unbounded" }))
    await runWorker(url())
    await untilStatus("published")
    await complain(recipients.slice(0, 3))
    const paused = await untilStatus("paused")
    expect(paused.stopReason).not.toBeNull()
    await run(scheduleCampaign(campaignId, { command: "resume" }))
    expect(await untilStatus("published")).toMatchObject({ stopReason: null })
    await complain(recipients)
    await untilStatus("paused")
  })
})
