import { existsSync, statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { EVENTS, type EventEnvelope, type List, RecipientRecord } from "@outreach/contract"
import { describe, expect, it } from "vitest"
import { eventually } from "./eventually.ts"
import { type Addresses, freePort, getJson, isClosed, runSandbox, sandboxFolder } from "./runSandbox.ts"

interface Received {
  readonly counts: Readonly<Record<string, number>>
  readonly duplicates: number
  readonly rejected: number
  readonly events: ReadonlyArray<EventEnvelope>
}
interface Caught {
  readonly count: number
  readonly messages: ReadonlyArray<{
    readonly to: readonly string[]
    readonly html: string
    readonly message_id: string
  }>
}

const received = async ({ partner_url }: Addresses) => (await getJson(partner_url)) as Received
const sentCount = ({ counts }: Received) => counts["outreach.email_sent"] ?? 0

/** Pulls the whole list as a partner does, page after page. */
const pull = async ({ base_url, api_key }: Addresses): Promise<RecipientRecord[]> => {
  const records: RecipientRecord[] = []
  let cursor = ""
  do {
    const page = (await getJson(
      `${base_url}/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z&limit=300${cursor}`,
      { authorization: `Bearer ${api_key}` },
    )) as List<unknown>
    records.push(...page.data.map((record) => RecipientRecord.parse(record)))
    cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`
  } while (cursor !== "")
  return records
}

const published = ({ events }: Received) =>
  events.flatMap((event) => (event.event_type === "outreach.recipients_published" ? event.data.recipients : []))

describe("the sandbox", () => {
  it("takes a CSV file of 1,000 recipients through import, publication, webhooks, e-mail and the pull API", async () => {
    const folder = await sandboxFolder()
    const sandbox = runSandbox("--folder", folder, "--port", String(await freePort()))
    const addresses = await sandbox.addresses(folder)
    expect(statSync(join(folder, "sandbox.json")).mode & 0o777).toBe(0o600)

    const all = await eventually(
      () => received(addresses),
      (now) => sentCount(now) === 1000,
    )
    expect(all.rejected).toBe(0)
    for (const event of all.events) EVENTS[event.event_type].envelope.parse(event)
    const csv = (await readFile(join(import.meta.dirname, "../src/seed/recipients.csv"), "utf8")).trim().split("\n")
    const told = published(all)
    expect(told.map(({ npi, email }) => `${npi},${email}`).sort()).toEqual(csv.slice(1).sort())

    const caught = (await getJson(addresses.mail_url)) as Caught
    expect(caught.count).toBe(1000)
    const byAddress = new Map(caught.messages.map((message) => [message.to[0], message]))
    for (const { email, token } of told) expect(byAddress.get(email)?.html).toContain(token)

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

    const stopping = performance.now()
    sandbox.kill("SIGINT")
    expect(await sandbox.ended).toBe(0)
    expect(performance.now() - stopping).toBeLessThan(5000)
    expect(existsSync(join(folder, "sandbox.json"))).toBe(false)
    for (const url of [addresses.base_url, addresses.partner_url, addresses.mail_url]) {
      expect(await isClosed(url), url).toBe(true)
    }
  })

  it("goes on without loss after it was killed in the middle, and takes its own services with it", async () => {
    const folder = await sandboxFolder()
    const args = ["--folder", folder, "--port", String(await freePort())]
    const killed = runSandbox(...args)
    const before = await killed.addresses(folder)
    await eventually(
      () => received(before),
      (now) => sentCount(now) > 0,
    )
    killed.kill("SIGKILL")
    await killed.ended
    await eventually(
      () => isClosed(before.base_url),
      (closed) => closed,
    )

    const sandbox = runSandbox(...args)
    await eventually(
      async () => (await sandbox.addresses(folder)).database_url,
      (url) => url !== before.database_url,
    )
    const after = await sandbox.addresses(folder)
    for (const name of ["api_key", "campaign_id", "endpoint_id", "signing_secret"] as const) {
      expect(after[name]).toBe(before[name])
    }
    // What the killed worker held comes back when its leases end, after 45 s.
    const all = await eventually(
      () => received(after),
      (now) => sentCount(now) === 1000,
      120_000,
    )
    expect(new Set(published(all).map(({ token }) => token)).size).toBe(1000)
    const records = await pull(after)
    expect(records.filter(({ sent_at }) => sent_at !== null)).toHaveLength(1000)
  })
})

describe("a sandbox that cannot start", () => {
  it.each([
    [["--port", "abc"], "--port must be a port from 1 to 65535."],
    [["--no-such-option"], "Unknown option '--no-such-option'"],
  ])("says what is wrong with %j", async (args, sentence) => {
    const sandbox = runSandbox(...args)
    expect(await sandbox.ended).toBe(1)
    expect(sandbox.output()).toContain(sentence)
  })

  it("names the port that is in use, and the sandbox that holds the folder", async () => {
    const folder = await sandboxFolder()
    const port = String(await freePort())
    const first = runSandbox("--folder", folder, "--port", port)
    await first.addresses(folder)

    const other = runSandbox("--folder", await sandboxFolder(), "--port", port)
    expect(await other.ended).toBe(1)
    expect(other.output()).toContain(`Port ${port} is in use`)

    const same = runSandbox("--folder", folder, "--fresh")
    expect(await same.ended).toBe(1)
    expect(same.output()).toContain(`A sandbox runs on ${folder} already`)
    expect(existsSync(join(folder, "sandbox.json"))).toBe(true)
    first.kill("SIGTERM")
    expect(await first.ended).toBe(0)
  })

  it("prints its usage for --help", async () => {
    const sandbox = runSandbox("--help")
    expect(await sandbox.ended).toBe(0)
    expect(sandbox.output()).toContain("--recipients FILE")
  })
})
