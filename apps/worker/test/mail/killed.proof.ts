import { EventEmitter, once } from "node:events"
import { expect, it } from "@effect/vitest"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { sql } from "@outreach/testing/sql"
import { until } from "@outreach/testing/until"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, launch, kill, endLeases } = journey()

it("a message that the server has received when its worker is killed is sent once more by another worker, and recorded once", async () => {
  const to = await partner()
  const steps = new EventEmitter()
  const killed = once(steps, "killed")
  const mail = await mailServer({ accepting: async () => void (await killed) })
  const { campaign } = await launch(to, 1)
  const first = await startWorker(url(), { SMTP_URL: mail.url })
  await until(mail, ({ messages }) => messages.length === 1)
  await kill(first)
  steps.emit("killed")
  const recipient = () => run(sql`select sent_at from recipients where campaign_id = ${campaign.id}`)
  expect(await recipient()).toEqual([{ sent_at: null }])

  await endLeases()
  await startWorker(url(), { SMTP_URL: mail.url })
  const sent = () => to.received.filter(({ event }) => event.event_type === "outreach.email_sent")
  await until(to, () => sent().length > 0)
  const ids = mail.messages.map(({ text }) => /^Message-ID: (.*)$/m.exec(text)?.[1])
  expect(ids).toEqual([expect.stringMatching(/^<rcp_[0-9a-f]{32}@acme\.test>$/), ids[0]])
  expect(sent()).toHaveLength(1)
  expect(await run(sql`select from messages where campaign_id = ${campaign.id}`)).toEqual([])
})
