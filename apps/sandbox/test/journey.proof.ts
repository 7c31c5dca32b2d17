import { existsSync, statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { createClient } from "@outreach/client"
import { EVENTS } from "@outreach/contract"
import { eventually } from "@outreach/testing/eventually"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { expect, it } from "vitest"
import { type Behavior, behaviorOf } from "../src/behaviorOf.ts"
import { processTree, runs } from "./processTree.ts"
import { inboxWaiting, published, pull, received, sentCount } from "./receivedEvents.ts"
import { getJson, isRefused, runSandbox, sandboxFolder } from "./runSandbox.ts"

interface Caught {
  readonly count: number
  readonly messages: ReadonlyArray<{ readonly to: readonly string[]; readonly html: string }>
}

it("takes a CSV file of 1,000 recipients through import, publication, webhooks, e-mail and the pull API", async () => {
  const folder = await sandboxFolder()
  const sandbox = runSandbox(["--folder", folder, "--host", loopbackAddress()])
  const addresses = await sandbox.addresses(folder)
  for (const file of ["sandbox.json", "keys.json", "api.log", "worker.log", "console.log"]) {
    expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600)
  }
  const csv = (await readFile(join(import.meta.dirname, "../src/seed/recipients.csv"), "utf8")).trim().split("\n")
  const behaviors = csv.slice(1).map((line) => behaviorOf(line.split(",")[1]!))
  const count = (does: (behavior: Behavior) => boolean) => behaviors.filter(does).length
  const [opened, clicked, bounced] = [
    count(({ opens }) => opens),
    count(({ clicks, scanned }) => clicks || scanned),
    count(({ bounces }) => bounces),
  ]
  const sentTo = 1000 - bounced

  const all = await eventually(
    () => received(addresses),
    (now) => sentCount(now) === sentTo && now.counts["outreach.email_bounced"] === bounced,
    240_000,
  )
  expect(all.rejected).toBe(0)
  for (const event of all.events) EVENTS[event.event_type].envelope.parse(event)
  const recipients = published(all)
  expect(recipients.map(({ npi, email }) => `${npi},${email}`).sort()).toEqual(csv.slice(1).sort())
  const reached = recipients.filter(({ email }) => !behaviorOf(email).bounces)
  const sent = all.events.flatMap((event) => (event.event_type === "outreach.email_sent" ? event.data.token : []))
  expect(new Set(sent)).toEqual(new Set(reached.map(({ token }) => token)))

  const caught = (await getJson(addresses.mail_url)) as Caught
  expect(caught.count).toBe(sentTo)
  const byAddress = new Map(caught.messages.map((message) => [message.to[0], message]))
  for (const { email, token } of reached)
    expect(decodeLink(byAddress.get(email)!.html)).toContain(`https://partner.test/${token}`)

  // Opening a message and following its link publishes events, and the link redirects to the partner.
  const { token, email } = reached.find(({ email }) => !(behaviorOf(email).opens || behaviorOf(email).scanned))!
  const { html } = byAddress.get(email)!
  const browser = {
    headers: { "User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" },
    redirect: "manual",
  } as const
  const { emitted_at: sentAt } = all.events.find(
    (event) => event.event_type === "outreach.email_sent" && event.data.token === token,
  )!
  // The service suspects a bot behind a hit within a second.
  await eventually(
    async () => Date.now() - Date.parse(sentAt),
    (age) => age > 2000,
  )
  const pixel = await fetch(/<img src="([^"]+)"/.exec(html)![1]!, browser)
  expect([pixel.status, pixel.headers.get("content-type")]).toEqual([200, "image/gif"])
  const click = await fetch(linkIn(html), browser)
  expect([click.status, click.headers.get("location")]).toEqual([302, `https://partner.test/${token}`])

  const documents = /^documents +(\S+)/m.exec(sandbox.output())?.[1]
  expect(await (await fetch(`${documents}/reference`)).text()).toContain("<title>Reference")

  // The simulated clinicians do the rest within two minutes, and the day's digest counts the partner's events about them.
  const funnel = {
    account_created: count(({ stages }) => stages >= 1),
    learner_qualified: count(({ stages }) => stages >= 2),
    completer_qualified: count(({ stages }) => stages >= 3),
  }
  const total = 1000 + opened + 1 + clicked + 1
  const both = await eventually(
    () => received(addresses),
    (now) =>
      now.counts["outreach.email_opened"] === opened + 1 &&
      now.counts["outreach.email_clicked"] === clicked + 1 &&
      now.reconciled >= total &&
      isDeepStrictEqual(now.told, funnel),
    300_000,
  )
  // An event that came by webhook and by feed is not a duplicate.
  expect([both.reconciled, both.duplicates]).toEqual([total, all.duplicates])
  for (const event of both.events) EVENTS[event.event_type].envelope.parse(event)
  const own = both.events.filter(({ data, event_type: type }) => /opened|clicked/.test(type) && data["token"] === token)
  expect(own.map(({ data }) => data["is_bot_suspected"])).toEqual([false, false])
  await eventually(
    () => inboxWaiting(addresses),
    (count) => count === 0,
  )
  // Where the machine stalls, a reader of the first seconds may be suspected as well; the digest counts what the events say.
  const unsuspected = both.events.filter(
    ({ data, event_type: type }) => type === "outreach.email_clicked" && data["is_bot_suspected"] === false,
  )
  expect(unsuspected.length).toBeGreaterThan(1)
  expect(unsuspected.length).toBeLessThanOrEqual(count(({ clicks }) => clicks) + 1)
  const client = createClient({ apiKey: addresses.api_key, baseUrl: addresses.base_url })
  const digest = await client.getDigest(new Date().toISOString().slice(0, 10))
  expect(digest.data[0]!.funnel.cumulative).toEqual(funnel)
  expect(digest.data[0]!.outreach).toMatchObject({
    sent: sentTo,
    bounced,
    opened: opened + 1,
    without_suspected_bots: { clicked: unsuspected.length },
  })

  const records = await pull(addresses)
  const byToken = new Map(recipients.map((recipient) => [recipient.token, recipient]))
  expect(records).toHaveLength(1000)
  for (const record of records) {
    const recipient = byToken.get(record.token)!
    expect(recipient).toMatchObject({
      npi: record.npi,
      email: record.email,
      service_recipient_id: record.service_recipient_id,
    })
    expect(record.sent_at === null).toBe(behaviorOf(recipient.email).bounces)
  }

  // At least the sandbox, the supervisor of its database, the API and the worker.
  const processes = processTree(sandbox.pid)
  expect(processes.length).toBeGreaterThanOrEqual(4)
  const stopping = performance.now()
  sandbox.kill("SIGINT")
  expect(await sandbox.ended).toBe(0)
  // Five seconds on a quiet machine; a busy one gets more.
  expect(performance.now() - stopping).toBeLessThan(60_000)
  expect(existsSync(join(folder, "sandbox.json"))).toBe(false)
  expect(processes.filter(runs)).toEqual([])
  // The database server is not in the process tree.
  expect(await isRefused(addresses.database_url)).toBe(true)
})

const linkIn = (html: string): string => /<a\s[^>]*\bhref="(http[^"]+)"/.exec(html)![1]!

/** Decodes the tracking link of a message, which contains the target URL. */
const decodeLink = (html: string): string =>
  Buffer.from(linkIn(html).split("/").at(-1)!, "base64url").toString("latin1")
