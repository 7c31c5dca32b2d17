import { eventually } from "@outreach/testing/eventually"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { expect, it } from "vitest"
import { processTree, runs } from "./processTree.ts"
import { published, pull, received, sentCount } from "./receivedEvents.ts"
import { runSandbox, sandboxFolder } from "./runSandbox.ts"

/** The recipients of the sample campaign who have a mailbox. */
const SENT = 982

it("goes on without loss after every process of it was killed in the middle", async () => {
  const folder = await sandboxFolder()
  const args = ["--folder", folder, "--host", loopbackAddress()]
  const killed = runSandbox(args)
  const before = await killed.addresses(folder)
  const acknowledged = await eventually(
    () => received(before),
    (now) => sentCount(now) > 0,
  )
  expect(sentCount(acknowledged)).toBeLessThan(SENT)
  for (const pid of processTree(killed.pid)) process.kill(pid, "SIGKILL")
  await killed.ended

  const sandbox = runSandbox(args)
  await eventually(
    async () => (await sandbox.addresses(folder)).database_url,
    (url) => url !== before.database_url,
  )
  const after = await sandbox.addresses(folder)
  for (const name of ["api_key", "campaign_id", "endpoint_id", "signing_secret", "partner_url"] as const) {
    expect(after[name]).toBe(before[name])
  }
  // The killed worker's deliveries are retried when their leases expire, after 100 s.
  const all = await eventually(
    () => received(after),
    (now) => sentCount(now) === SENT,
    300_000,
  )
  const ids = new Set(all.events.map(({ event_id }) => event_id))
  expect(ids.size).toBe(all.events.length)
  for (const { event_id } of acknowledged.events) expect(ids).toContain(event_id)
  expect(new Set(published(all).map(({ token }) => token)).size).toBe(1000)
  const records = await pull(after)
  expect(records.filter(({ sent_at }) => sent_at !== null)).toHaveLength(SENT)
})

it("takes its services and its database with it when it alone is killed", async () => {
  const folder = await sandboxFolder()
  const sandbox = runSandbox(["--folder", folder, "--host", loopbackAddress()])
  await sandbox.addresses(folder)
  const processes = processTree(sandbox.pid)
  sandbox.kill("SIGKILL")
  await sandbox.ended
  await eventually(
    async () => processes.filter(runs),
    (left) => left.length === 0,
    10_000,
  )
})
