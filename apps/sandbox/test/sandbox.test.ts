import { createClient } from "@outreach/client"
import { EVENTS, FEED_EVENT_TYPES } from "@outreach/contract"
import { afterTests } from "@outreach/testing/afterTests"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import type { Behavior } from "../src/behaviorOf.ts"
import { holdPort, lockDirectory } from "../src/preconditions.ts"
import { received } from "./receivedEvents.ts"
import { type Addresses, runSandbox, type SandboxProcess, writeRecipients } from "./runSandbox.ts"

// All tests share one sandbox, because starting it is slow.

const atEnd = afterTests()
let folder: string
let sandbox: SandboxProcess
let addresses: Addresses

/** Two clinicians of each behavior receive e-mails. */
const BEHAVIORS: ReadonlyArray<(behavior: Behavior) => boolean> = [
  ({ bounces }) => bounces,
  ({ scanned }) => scanned,
  ({ unsubscribes }) => unsubscribes,
  ({ stages }) => stages === 3,
  ({ bounces, scanned, opens }) => !(bounces || scanned || opens),
]

beforeAll(async () => {
  folder = temporaryFolder("sandbox", atEnd)
  const recipients = await writeRecipients(folder, [...BEHAVIORS, ...BEHAVIORS])
  sandbox = runSandbox(folder, { args: ["--recipients", recipients], atEnd })
  addresses = await sandbox.addresses()
  await sandbox.shows(/bounced 2 · opened 4 · clicked 4 · unsubscribed 2 · accounts 2 · learners 2 · completers 2/)
}, 300_000)

const asBrowser = () => fetch(addresses.partner_url, { headers: { Accept: "text/html,application/xhtml+xml" } })

it("shows every type of event in webhooks, feed and digest without anybody doing anything", async () => {
  const state = await eventually(
    () => received(addresses),
    ({ reconciled }) => reconciled === 18,
  )
  expect(state.counts).toEqual({
    "outreach.recipients_published": 1,
    "outreach.email_sent": 8,
    "outreach.email_bounced": 2,
    "outreach.email_opened": 4,
    "outreach.email_clicked": 4,
  })
  expect(state.told).toEqual({ account_created: 2, learner_qualified: 2, completer_qualified: 2 })
  const byWebhook = new Set(state.events.map(({ event_type: type }) => type))
  const outbound = Object.keys(EVENTS).filter((type) => type.startsWith("outreach."))
  expect([...byWebhook].sort()).toEqual(outbound.sort())

  const client = createClient({ apiKey: addresses.api_key, baseUrl: addresses.base_url })
  const feed = await Array.fromAsync(client.listEvents({ since: "2020-01-01T00:00:00Z" }))
  expect([...new Set(feed.map((event) => event.event_type))].sort()).toEqual([...FEED_EVENT_TYPES].sort())
  const dates = new Set(feed.map((event) => event.occurred_at.slice(0, 10)))

  // There are two dates if midnight passed meanwhile.
  const digests = await eventually(
    () => Promise.all([...dates].sort().map((date) => client.getDigest(date))),
    (read) => read.at(-1)!.data[0]?.funnel.cumulative.completer_qualified === 2,
  )
  const days = digests.flatMap(({ data }) => data)
  expect(days.at(-1)!.funnel.cumulative).toEqual({ account_created: 2, learner_qualified: 2, completer_qualified: 2 })
  const sum = (count: (outreach: (typeof days)[number]["outreach"]) => number) =>
    days.reduce((total, { outreach }) => total + count(outreach), 0)
  const names = ["recipients_published", "sent", "bounced", "opened", "clicked"] as const
  expect(names.map((name) => sum((counts) => counts[name]))).toEqual([10, 8, 2, 4, 4])
  const hits = ["opened", "clicked"] as const
  expect(hits.map((name) => sum((counts) => counts.without_suspected_bots[name]))).toEqual([4, 2])
}, 300_000)

it("shows the sample partner as a page to a browser, and as JSON to other clients", async () => {
  const forged = { method: "POST", headers: { "X-Signature": "t=1,v1=00" }, body: "{}" }
  expect((await fetch(new URL("/webhooks", addresses.partner_url), forged)).status).toBe(401)
  const response = await asBrowser()
  const html = await response.text()
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8")
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/)
  expect(html).not.toContain("<script")
  const words = ["Received", "Verified", "Deduplicated", "Reconciled", "mailbox_not_found", "bot suspected"]
  for (const word of [...words, "; 1 without one were refused"]) expect(html).toContain(word)
  for (const type of Object.keys(EVENTS)) expect(html).toContain(type)

  for (const path of ["/", "/received.json"]) {
    const json = await fetch(new URL(path, addresses.partner_url))
    expect([json.headers.get("content-type"), Object.keys((await json.json()) as object)]).toEqual([
      "application/json",
      ["counts", "duplicates", "rejected", "reconciled", "told", "events"],
    ])
  }
})

it("links to the mail catcher, and to the console as an admin, as often as the link is opened", async () => {
  expect(sandbox.text).toMatch(/mail catcher .* the newest 2,000 e-mails/)
  const mails = await fetch(addresses.mail_url, { headers: { Accept: "text/html" } })
  expect(await mails.text()).toContain("The newest 2,000 are kept in memory")
  expect(sandbox.text).toContain(`operator console  ${addresses.console_url}   signed in as an admin`)
  for (const _ of [1, 2]) {
    const page = await openConsole(addresses.console_url)
    expect(await page.text()).toContain("<bdi>Sandbox</bdi> <small>admin</small>")
  }
})

it("links to the partner's own view of the console", async () => {
  const url = addresses.partner_console_url
  expect(sandbox.text).toContain(`partner's view    ${url}`)
  expect(await (await asBrowser()).text()).toContain(`<a href="${url}">`)
  const first = await openConsole(url)
  expect(new URL(first.url).pathname).toBe(`/partners/${addresses.organization_id}`)
  const page = await first.text()
  const links = [`/endpoints/${addresses.endpoint_id}`, `${addresses.base_url}/docs`]
  for (const part of ["<bdi>Sample partner</bdi> <small>partner-admin</small>", ...links]) expect(page).toContain(part)
})

/** Signs in with a link of the sandbox, and opens the first page. */
const openConsole = async (link: string) => {
  const signIn = await fetch(link, { redirect: "manual" })
  expect({ status: signIn.status, to: signIn.headers.get("location") }).toEqual({ status: 303, to: "/" })
  const cookie = signIn.headers.get("set-cookie")!.split(";")[0]!
  return await fetch(new URL("/", link), { headers: { cookie } })
}

it("names the port that is in use, and the sandbox that uses the folder", async () => {
  const { hostname, port } = new URL(addresses.base_url)
  const inUse = await Effect.runPromise(Effect.flip(Effect.scoped(holdPort(hostname, "--port", [Number(port)]))))
  expect(inUse.message).toContain(`listens on port ${port} of ${hostname}; stop it, or set --port to another port.`)
  const held = await Effect.runPromise(Effect.flip(Effect.scoped(lockDirectory(folder))))
  expect(held.message).toContain(`A sandbox runs on ${folder} already, as process ${sandbox.child.pid}.`)
})

it("holds its ports until the services start, so that the API and the console never have the same one", async () => {
  const host = loopbackAddress()
  await Effect.gen(function* () {
    const api = yield* holdPort(host, "--port", [8090])
    expect((yield* holdPort(host, "--console-port", [8090, 0])).port).not.toBe(8090)
    const { message } = yield* Effect.flip(holdPort(host, "--console-port", [8090]))
    expect(message).toContain("set --console-port to another port.")
    yield* api.release
    expect((yield* holdPort(host, "--console-port", [8090, 0])).port).toBe(8090)
  }).pipe(Effect.scoped, Effect.runPromise)
})
