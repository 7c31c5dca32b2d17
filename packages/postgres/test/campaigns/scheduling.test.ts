import { describe, expect } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { PreflightSettings } from "@outreach/domain/campaigns/PreflightSettings"
import { Deployment } from "@outreach/domain/Deployment"
import type { CampaignId } from "@outreach/domain/Identifier"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

// Publishing takes whatever campaigns there are, so each test begins without any under way.
beforeEach(() => run(cancelCampaigns))

const campaigns = CampaignRepository
const statusOf = (id: CampaignId) =>
  Effect.flatMap(campaigns, (each) => Effect.map(each.find(id), ({ status }) => status))

describe("scheduling a campaign", () => {
  test("is refused while a check fails, and names every failed check with what to do", function* () {
    const { campaign, program, organization } = yield* seedCampaign({ recipients: 0 })
    const sql = yield* SqlClient.SqlClient
    yield* sql`update programs set status = 'archived' where id = ${program.id}`
    yield* sql`update signing_secrets set expires_at = clock_timestamp() where organization_id = ${organization.id}`
    const refused = yield* Effect.flip(scheduleCampaign(campaign.id))
    expect(refused).toMatchObject({ _tag: "CampaignNotReady", campaignId: campaign.id })
    for (const words of [
      `recipients: No recipient is imported. Import them: ops recipients import --campaign ${campaign.id} <file>.`,
      "program: The program",
      "signing_secret: No signing secret is active for 1 enabled endpoint. Run ops secrets rotate",
      "--force recipients,program,signing_secret",
    ]) {
      expect(refused.message).toContain(words)
    }
    expect(yield* statusOf(campaign.id)).toBe("draft")
  })

  test("overrides the checks that are named, and no other", function* () {
    const { campaign, program } = yield* seedCampaign({ recipients: 0 })
    const sql = yield* SqlClient.SqlClient
    yield* sql`update programs set completer_target = 1 where id = ${program.id}`
    yield* sql`
      insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
        account_created_total, learner_qualified_total, completer_qualified_total)
      select organization_id, id, current_date, 0, 0, 1, 0, 0, 1 from programs where id = ${program.id}`
    const force = (...checks: ReadonlyArray<"recipients" | "quota" | "window">) =>
      scheduleCampaign(campaign.id, { force: checks })
    const refused = yield* Effect.flip(force("recipients", "window"))
    expect(refused.message).toMatch(/^Campaign \S+ is not ready: 1 of 12 checks failed\.\nquota: /)
    expect((yield* force("recipients", "quota")).status).toBe("scheduled")
  })

  test("checks a campaign that is resumed as well", function* () {
    const { campaign, program } = yield* seedCampaign({ recipients: 2 })
    yield* scheduleCampaign(campaign.id)
    yield* commandCampaign(campaign.id, "pause")
    yield* SqlClient.SqlClient.use((sql) => sql`update programs set status = 'archived' where id = ${program.id}`)
    expect(yield* Effect.flip(scheduleCampaign(campaign.id, { command: "resume" }))).toMatchObject({
      _tag: "CampaignNotReady",
    })
    expect((yield* scheduleCampaign(campaign.id, { command: "resume", force: ["program"] })).status).toBe("scheduled")
  })

  test("is refused in production while PUBLIC_BASE_URL is not https", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 1 })
    const at = (publicBaseUrl: string) =>
      scheduleCampaign(campaign.id).pipe(
        Effect.provideService(Deployment, { livemode: true }),
        Effect.provideService(PreflightSettings, { signsMail: true, publicBaseUrl }),
      )
    expect((yield* Effect.flip(at("http://outreach.test"))).message).toContain("public_base_url: ")
    expect((yield* at("https://outreach.test")).status).toBe("scheduled")
  })
})
