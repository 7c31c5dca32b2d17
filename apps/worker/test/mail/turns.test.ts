import { expect, it } from "@effect/vitest"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run } = journey()

const launch = (recipients: number, emailDomain: string) =>
  run(
    Effect.gen(function* () {
      const { campaign } = yield* seedCampaign({ recipients, emailDomain })
      yield* scheduleCampaign(campaign.id)
    }),
  )

it("gives a campaign that begins beside another organization's long one half of what goes out, also within a rate", async () => {
  const mail = await mailServer()
  await runWorker(url(), { SMTP_URL: mail.url, MAIL_PER_MINUTE: "3000" })
  const arrived = () => mail.messages.map(({ to }) => to[0]!.split("@")[1]!)
  const count = (domain: string) => arrived().filter((each) => each === domain).length
  await launch(900, "long.test")
  await eventually(
    () => count("long.test"),
    (sent) => sent >= 50,
  )
  await launch(60, "short.test")
  await eventually(
    () => count("short.test"),
    (sent) => sent === 60,
  )
  const order = arrived()
  const [first, last] = [order.indexOf("short.test"), order.lastIndexOf("short.test")]
  // Half of what goes out, and what the worker had already claimed of the long one.
  expect(last - first).toBeLessThan(2 * 60 + 100)
  expect(count("long.test")).toBeLessThan(900)
})
