import { statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { EVENTS } from "@outreach/contract"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { behaviorOf } from "../src/behaviorOf.ts"
import { published, pull, received } from "./receivedEvents.ts"
import { getJson, runSandbox } from "./runSandbox.ts"

interface CaughtMails {
  readonly count: number
  readonly messages: ReadonlyArray<{ readonly to: readonly string[]; readonly html: string }>
}

it("takes the sample of 1,000 recipients through import, publication, webhooks, e-mail and the pull API", async () => {
  const folder = temporaryFolder("journey")
  const sandbox = runSandbox(folder)
  const addresses = await sandbox.addresses()
  for (const file of ["sandbox.json", "keys.json", "api.log", "worker.log", "console.log"]) {
    expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600)
  }
  const csv = await readFile(join(folder, "sample-recipients.csv"), "utf8")
  const lines = csv.trim().split("\n").slice(1)
  const bounced = lines.filter((line) => behaviorOf(line.split(",")[1]!).bounces).length
  const sentTo = 1000 - bounced

  await sandbox.shows(new RegExp(` sent ${sentTo} `))
  const all = await eventually(
    () => received(addresses),
    (now) => now.counts["outreach.email_sent"] === sentTo && now.counts["outreach.email_bounced"] === bounced,
  )
  expect(all.rejected).toBe(0)
  for (const event of all.events) EVENTS[event.event_type].envelope.parse(event)
  const recipients = published(all)
  expect(recipients.map(({ npi, email }) => `${npi},${email}`).sort()).toEqual(lines.sort())
  const reached = recipients.filter(({ email }) => !behaviorOf(email).bounces)
  const sent = all.events.flatMap((event) => (event.event_type === "outreach.email_sent" ? [event.data.token] : []))
  expect(sent.sort()).toEqual(reached.map(({ token }) => token).sort())

  const caught = (await getJson(addresses.mail_url)) as CaughtMails
  expect(caught.count).toBe(sentTo)
  const byAddress = new Map(caught.messages.map((message) => [message.to[0], message]))
  for (const { email, token } of reached)
    expect(decodeLink(byAddress.get(email)!.html)).toContain(`https://partner.test/${token}`)

  const documents = /^documents +(\S+)/m.exec(sandbox.text)?.[1]
  expect(await (await fetch(new URL("/docs/reference", documents))).text()).toContain("<title>Reference")
  const records = await pull(addresses)
  const byToken = new Map(recipients.map((recipient) => [recipient.token, recipient]))
  expect(records).toHaveLength(1000)
  for (const { token, npi, email, service_recipient_id, sent_at } of records) {
    expect(byToken.get(token)).toMatchObject({ npi, email, service_recipient_id })
    expect(sent_at === null).toBe(behaviorOf(email).bounces)
  }
})

const linkIn = (html: string): string => /<a\s[^>]*\bhref="(http[^"]+)"/.exec(html)![1]!

/** Decodes the target URL of a message's tracking link. */
const decodeLink = (html: string): string =>
  Buffer.from(linkIn(html).split("/").at(-1)!, "base64url").toString("latin1")
