import { setTimeout } from "node:timers/promises"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { expect, it } from "vitest"
import { journey } from "./journey.ts"
import { startWorker } from "./startWorker.ts"

/** So long that every loop waits for half a minute before it tries again. */
const SILENCE_MS = 100_000
/** What everything takes to work again, beside other work of the machine. Alone it takes at most five seconds. */
const LIMIT_MS = 10_000

const { url, launch } = journey()

it("e-mails and webhooks go on soon after a long silence of the database", async () => {
  const to = await partner()
  const mail = await mailServer()
  const proxy = await tcpProxy(Number(new URL(url()).port))
  const address = proxy.through(url())
  await startWorker(address, { SMTP_URL: mail.url })
  await launch(to, 2)
  await eventually(
    () => to.received,
    ({ length }) => length === 3,
  )

  proxy.mute()
  await setTimeout(SILENCE_MS)
  const before = to.received.length
  // It is there when the database is back.
  await launch(to, 2)
  const healedAt = performance.now()
  proxy.heal()
  await eventually(
    () => to.received,
    ({ length }) => length === before + 3,
  )
  const back = Math.round(performance.now() - healedAt)
  console.log(`published, mailed and delivered ${back} ms after the database was back`)
  expect(back).toBeLessThan(LIMIT_MS)
})
