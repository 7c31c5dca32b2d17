import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { acceptPromotion } from "@outreach/domain/restores/Restores"
import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { startStandby } from "@outreach/embedded-postgres/startStandby"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { value } from "@outreach/testing/sql"
import { urlIn } from "@outreach/testing/startProcess"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { eventually, until } from "@outreach/testing/until"
import { Effect, type Layer } from "effect"
import { expect, it, onTestFinished } from "vitest"
import { startWorker } from "./startWorker.ts"

const PAUSED = "worker paused, see ops restores show"

const runOn = <A, E>({ url }: Postgres, effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url)))

it("workers follow a promotion, and pause when the old primary returns, until an operator accepts it", async () => {
  const settings = { synchronous_commit: "on" }
  const primary = await startPostgres({ settings })
  onTestFinished(() => primary.stop())
  await runOn(primary, migrateWithRoles)
  const standby = await startStandby(primary, { name: "s1", settings })
  onTestFinished(() => standby.stop())
  const proxy = await tcpProxy(primary.port)
  const to = await partner()
  const mail = await mailServer()

  // With this limit, only the lost history is a reason to pause.
  const start = () => startWorker(proxy.through(primary.url), { SMTP_URL: mail.url, FAILOVER_SECONDS: "3600" })
  /** Schedules a campaign that causes one e-mail and two webhooks. */
  const launch = Effect.gen(function* () {
    const { campaign, secret } = yield* seedCampaign({ recipients: 1, endpointUrl: to.url })
    to.trust(secret)
    yield* scheduleCampaign(campaign.id)
  })
  const mailed = () => mail.messages.length
  // A webhook that was in flight when the server was killed is repeated.
  const told = () => new Set(to.received.map(({ event }) => event.event_id)).size
  const untilSent = async (launches: number) => {
    await until(mail, () => mailed() === launches)
    await until(to, () => told() === 2 * launches)
  }

  const worker = await start()
  await runOn(primary, launch)
  await untilSent(1)
  const end = await runOn(primary, value<string>`select pg_current_wal_flush_lsn()::text`)
  const isReplayed = value<boolean>`select pg_last_wal_replay_lsn() >= ${end}::pg_lsn`
  await eventually(() => runOn(standby, isReplayed), Boolean)
  await primary.kill()
  await standby.promote()
  proxy.moveTo(standby.port, "reset")
  await until(worker, "database was promoted, worker continues")
  await runOn(standby, launch)
  await untilSent(2)

  await standby.kill()
  await primary.restart()
  proxy.moveTo(primary.port, "reset")
  expect((await until(worker, PAUSED)).annotations).toMatchObject({
    fault: "moved",
    recorded: expect.stringContaining("/00000002/"),
    current: expect.stringContaining("/00000001/"),
  })
  await runOn(primary, launch)
  const another = await start()
  await until(another, PAUSED)
  for (const process of [worker, another]) {
    const url = urlIn(await until(process, "admin port open"))
    const readiness = () => fetch(`${url}/readyz`).then((response) => response.text())
    await eventually(readiness, (text) => text.includes("(MOVED)"))
  }
  expect([mailed(), told()]).toEqual([2, 4])

  await runOn(primary, acceptPromotion())
  await untilSent(3)
})
