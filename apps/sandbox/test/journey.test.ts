import { existsSync, statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { EVENTS } from "@outreach/contract"
import { expect, it } from "vitest"
import { eventually } from "./eventually.ts"
import { processTree, runs } from "./processTree.ts"
import { freePort, getJson, isRefused, runSandbox, sandboxFolder } from "./runSandbox.ts"
import { published, pull, received, sentCount } from "./whatCame.ts"

interface Caught {
  readonly count: number
  readonly messages: ReadonlyArray<{ readonly to: readonly string[]; readonly html: string }>
}

it("takes a CSV file of 1,000 recipients through import, publication, webhooks, e-mail and the pull API", async () => {
  const folder = await sandboxFolder()
  const sandbox = runSandbox(["--folder", folder, "--port", String(await freePort())])
  const addresses = await sandbox.addresses(folder)
  for (const file of ["sandbox.json", "keys.json", "api.log", "worker.log"]) {
    expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600)
  }

  const all = await eventually(
    () => received(addresses),
    (now) => sentCount(now) === 1000,
  )
  expect(all.rejected).toBe(0)
  for (const event of all.events) EVENTS[event.event_type].envelope.parse(event)
  const csv = (await readFile(join(import.meta.dirname, "../src/seed/recipients.csv"), "utf8")).trim().split("\n")
  const told = published(all)
  expect(told.map(({ npi, email }) => `${npi},${email}`).sort()).toEqual(csv.slice(1).sort())
  const tokens = new Set(told.map(({ token }) => token))
  const sent = all.events.flatMap((event) => (event.event_type === "outreach.email_sent" ? event.data.token : []))
  expect(new Set(sent)).toEqual(tokens)

  const caught = (await getJson(addresses.mail_url)) as Caught
  expect(caught.count).toBe(1000)
  const byAddress = new Map(caught.messages.map((message) => [message.to[0], message]))
  for (const { email, token } of told) expect(byAddress.get(email)?.html).toContain(token)

  const documents = /^documents +(\S+)/m.exec(sandbox.output())?.[1]
  expect(await (await fetch(documents!)).text()).toContain("<title>Reference")

  // The feed carries the outcomes, and what a webhook has brought is no repeat when the feed has it too.
  const both = await eventually(
    () => received(addresses),
    (now) => now.reconciled >= 1000,
  )
  expect([both.reconciled, both.duplicates, both.events.length]).toEqual([1000, 0, all.events.length])

  const records = await pull(addresses)
  const byToken = new Map(told.map((recipient) => [recipient.token, recipient]))
  expect(records).toHaveLength(1000)
  for (const record of records) {
    expect(byToken.get(record.token)).toMatchObject({
      npi: record.npi,
      email: record.email,
      service_recipient_id: record.service_recipient_id,
    })
    expect(record.sent_at).not.toBeNull()
  }

  // The sandbox, the keeper of its database, the API and the worker at least.
  const processes = processTree(sandbox.pid)
  expect(processes.length).toBeGreaterThanOrEqual(4)
  const stopping = performance.now()
  sandbox.kill("SIGINT")
  expect(await sandbox.ended).toBe(0)
  expect(performance.now() - stopping).toBeLessThan(5000)
  expect(existsSync(join(folder, "sandbox.json"))).toBe(false)
  expect(processes.filter(runs)).toEqual([])
  // The database server is no child of ours.
  expect(await isRefused(addresses.database_url)).toBe(true)
})
