import { npi } from "@outreach/testing/seedCampaign"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

const seed = Effect.gen(function* () {
  const { campaign, recipients } = yield* seedSentCampaign({ recipients: 2 })
  return { campaignId: campaign.id, ...recipients[0]! }
})

it("ops events lists the log by campaign, type and recipient, and says that there is more", async () => {
  const { campaignId, id } = await meanwhile(seed)
  const list = (...flags: ReadonlyArray<string>) => runJson("events", "list", ...flags)
  expect((await list("--campaign", campaignId)).data).toHaveLength(3)
  expect(await list("--campaign", campaignId, "--limit", "1")).toMatchObject({ data: [{}], has_more: true })
  const { data } = await list("--recipient", id, "--type", "outreach.email_sent")
  expect(data).toMatchObject([{ type: "outreach.email_sent", recipient_id: id, campaign_id: campaignId }])
  expect(JSON.stringify(data)).not.toContain(npi(0))
})

it("ops events shows an event masked, and as it is sent with --reveal, which is audited", async () => {
  const { id, token } = await meanwhile(seed)
  const [event] = (await runJson("events", "list", "--recipient", id)).data
  const masked = JSON.stringify(await runJson("events", "show", event.id))
  for (const personal of [npi(0), token]) expect(masked).not.toContain(personal)
  expect((await runJson("events", "show", event.id, "--reveal")).body).toContain(token)
  const { data } = await runJson("audit", "list", "--limit", "1")
  expect(data[0]).toMatchObject({ command: "events show", arguments: { event: event.id, reveal: true } })
  expect(await runFailing("events", "show", `evt_${"0".repeat(32)}`)).toMatchObject({ code: "event_not_found" })
})
