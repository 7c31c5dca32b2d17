import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { until } from "@outreach/testing/until"
import { it } from "vitest"
import { journey } from "./journey.ts"
import { startWorker } from "./startWorker.ts"

const { url, launch } = journey()

it("e-mails and webhooks go on after the database was mute for so long that the worker noticed", async () => {
  const to = await partner()
  const mail = await mailServer()
  const proxy = await tcpProxy(Number(new URL(url()).port))
  const worker = await startWorker(proxy.through(url()), { SMTP_URL: mail.url })
  await launch(to, 2)
  await until(to, ({ received }) => received.length === 3)

  proxy.mute()
  await until(worker, "database unusable")
  // Due when the database responds again.
  await launch(to, 2)
  proxy.heal()
  await until(worker, "database usable again")
  await until(to, ({ received }) => received.length === 6)
})
