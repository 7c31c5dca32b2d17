import { describe, expect, it } from "@effect/vitest"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"
import { seedClicks } from "../seedClicks.ts"

const { url, run } = journey()

describe("the worker", () => {
  it("tells the partner of each click, suspected or not", async () => {
    const to = await partner()
    const { secret, campaign, program, token } = await run(seedClicks(2, to.url))
    to.trust(secret)
    await runWorker(url())
    const received = await eventually(
      () => to.received,
      (all) => all.length === 2,
    )
    const data = received.map(({ event }) => event.data).sort((a, b) => (a["clicked_at"]! > b["clicked_at"]! ? 1 : -1))
    const common = { service_campaign_id: campaign.id, service_program_id: program.id, token }
    expect(data).toEqual([
      { ...common, is_bot_suspected: true, clicked_at: expect.any(String) },
      { ...common, is_bot_suspected: false, clicked_at: expect.any(String) },
    ])
    expect(to.forged).toEqual([])
  })
})
