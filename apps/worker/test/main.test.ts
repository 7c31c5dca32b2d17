import { expect, it } from "@effect/vitest"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { publishSent } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { until } from "@outreach/testing/until"
import { holdingPartner } from "./holdingPartner.ts"
import { journey } from "./journey.ts"
import { runWorker } from "./runWorker.ts"
import { startWorker } from "./startWorker.ts"

const { url, run, launch, deliveries } = journey()

it("the worker's process sends a campaign, finishes calls in flight on SIGTERM, and logs no addresses or secrets", async () => {
  const { to, receives, answer } = await holdingPartner()
  const mail = await mailServer()
  const { campaign, endpoint } = await launch(to, 2)
  const worker = await startWorker(url(), { SMTP_URL: mail.url })
  await receives(3)
  answer()
  expect(to.received.map(({ event }) => event.event_type)).toEqual([
    "outreach.recipients_published",
    "outreach.email_sent",
    "outreach.email_sent",
  ])
  const recipients = to.received[0]!.event.data["recipients"] as { [name: string]: string }[]
  for (const { token, email, service_recipient_id } of recipients) {
    const sent = mail.messages.find(({ text }) => text.includes(`<${service_recipient_id}@acme.test>`))
    expect(sent?.to).toEqual([email])
    expect(sent?.text).toContain(`https://l.test/${token}`)
    expect(sent?.text).toContain("Subject: An invitation to Heart failure")
  }
  // No trace receiver is configured.
  expect(await run(sql`select from events where traceparent is not null`)).toEqual([])

  await run(publishSent(campaign, 1))
  await receives(4)
  worker.child.kill("SIGTERM")
  await until(worker, "stopping")
  answer()
  expect(await worker.ended).toBe(0)
  const states = (await deliveries(endpoint.id)).map(({ state, attempts }) => ({ state, attempts }))
  expect(states).toEqual(Array(4).fill({ state: "delivered", attempts: 1 }))
  expect(worker.lines.map(({ message }) => message)).toContain("delivery attempted")
  expect(worker.errors).toBe("")
  expect(worker.text).not.toMatch(/clinic\.test|whsec_|v1=|"npi"/)
})

it("a worker ends before it sends anything if SECRETS_KEY does not decrypt a stored secret", async () => {
  const to = await partner()
  const mail = await mailServer()
  await launch(to, 1)
  const settings = { SMTP_URL: mail.url, SECRETS_KEY: Buffer.alloc(32, 9).toString("base64") }
  const { ended } = await runWorker(url(), settings)
  expect(String(await ended)).toContain("SECRETS_KEY does not decrypt the stored signing secrets; set it to ")
  expect([to.received, mail.messages]).toEqual([[], []])
})
