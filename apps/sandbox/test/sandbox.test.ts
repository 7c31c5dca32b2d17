import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { createClient } from "@outreach/client"
import { EVENTS, FEED_EVENT_TYPES } from "@outreach/contract"
import { checkDigit } from "@outreach/domain/recipients/Npi"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { type Behavior, behaviorOf } from "../src/behaviorOf.ts"
import { checkPort, holdConsolePort, lockDirectory } from "../src/preconditions.ts"
import { processTree, runs } from "./processTree.ts"
import { received } from "./receivedEvents.ts"
import { type Addresses, isRefused, runSandbox, sandboxFolder } from "./runSandbox.ts"

// All tests share one sandbox, because starting it is slow.

const cleanUps: Array<() => Promise<void>> = []
const onEnd = (cleanUp: () => Promise<void>) => void cleanUps.push(cleanUp)
let folder: string
let sandbox: ReturnType<typeof runSandbox>
let addresses: Addresses

/** The behaviors of this file's clinicians. The first two clinicians of each who act soon are chosen. */
const CLINICIANS: ReadonlyArray<(behavior: Behavior) => boolean> = [
  ({ bounces }) => bounces,
  ({ scanned }) => scanned,
  ({ unsubscribes }) => unsubscribes,
  ({ stages }) => stages === 3,
  ({ bounces, scanned, opens }) => !(bounces || scanned || opens),
]
const emails = CLINICIANS.flatMap((does) => {
  const all = Array.from({ length: 40_000 }, (_, i) => `doctor${i}@clinic.test`)
  return all
    .filter((email) => {
      const behavior = behaviorOf(email)
      return does(behavior) && behavior.readAfterMs < 3000
    })
    .slice(0, 2)
})

beforeAll(async () => {
  folder = await sandboxFolder(onEnd)
  const npi = (i: number) => `10000000${i}${checkDigit(`10000000${i}`)}`
  const recipients = join(folder, "recipients.csv")
  await writeFile(recipients, ["npi,email", ...emails.map((email, i) => `${npi(i)},${email}`)].join("\n"))
  const args = ["--folder", folder, "--host", loopbackAddress(), "--recipients", recipients]
  sandbox = runSandbox(args, {}, onEnd)
  addresses = await sandbox.addresses(folder)
}, 300_000)
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp()
})

const asBrowser = (path = "") =>
  fetch(new URL(path, addresses.partner_url), { headers: { Accept: "text/html,application/xhtml+xml" } })

it("shows every type of event in webhooks, feed and digest without anybody doing anything", async () => {
  expect(emails).toHaveLength(10)
  const state = await eventually(
    async () => {
      if (!runs(sandbox.pid)) throw new Error(sandbox.output())
      return received(addresses)
    },
    ({ counts, told, reconciled }) =>
      FEED_EVENT_TYPES.every((type) => counts[type]) && told["completer_qualified"] === 2 && reconciled >= 18,
    240_000,
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
  expect([...byWebhook].sort()).toEqual(
    Object.keys(EVENTS)
      .filter((type) => type.startsWith("outreach."))
      .sort(),
  )

  const client = createClient({ apiKey: addresses.api_key, baseUrl: addresses.base_url })
  const feed: string[] = []
  for await (const event of client.listEvents({ since: "2020-01-01T00:00:00Z" })) feed.push(event.event_type)
  expect([...new Set(feed)].sort()).toEqual([...FEED_EVENT_TYPES].sort())

  const digest = await eventually(
    () => client.getDigest(new Date().toISOString().slice(0, 10)),
    ({ data }) => data[0]?.funnel.cumulative.completer_qualified === 2,
  )
  expect(digest.data[0]).toMatchObject({
    funnel: { cumulative: { account_created: 2, learner_qualified: 2, completer_qualified: 2 } },
    outreach: {
      recipients_published: 10,
      sent: 8,
      bounced: 2,
      opened: 4,
      clicked: 4,
      without_suspected_bots: { opened: 4, clicked: 2 },
    },
  })
  await eventually(
    async () => sandbox.output(),
    (output) =>
      /opened 4 · clicked 4 · bounced 2 · unsubscribed 2 · accounts 2 · learners 2 · completers 2/.test(output),
  )
}, 300_000)

it("forwards with the verifier's listen what the sample partner received as webhooks", async () => {
  const forwarded: string[] = []
  const port = await listen(
    createServer(async (request, response) => {
      forwarded.push(await text(request))
      response.end()
    }),
  )
  const cli = fileURLToPath(new URL("cli.ts", import.meta.resolve("@outreach/webhook-verifier")))
  const args = [cli, "listen", "--forward", `http://127.0.0.1:${port}/`, "--since", "1h"]
  const command = spawn(process.execPath, args, {
    env: { ...process.env, OUTREACH_KEY: addresses.api_key, OUTREACH_URL: addresses.base_url },
    stdio: "ignore",
  })
  const ended = once(command, "close")
  onTestFinished(async () => {
    command.kill("SIGKILL")
    await ended
  })
  const webhooks = (await received(addresses)).events.map((event) => JSON.stringify(event))
  const inFeed = webhooks.filter((body) => body.includes('"event_type":"outreach.email_'))
  expect(inFeed).toHaveLength(18)
  await eventually(
    () => forwarded.length,
    (count) => count === 18,
  )
  expect(forwarded.sort()).toEqual(inFeed.sort())
})

it("shows the sample partner as a page to a browser, and as JSON to others", async () => {
  const response = await asBrowser()
  const html = await response.text()
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8")
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/)
  expect(html).not.toContain("<script")
  for (const word of ["Received", "Verified", "Deduplicated", "Reconciled", "mailbox_not_found", "bot suspected"]) {
    expect(html).toContain(word)
  }
  for (const type of Object.keys(EVENTS)) expect(html).toContain(type)

  const bounces = await (await asBrowser("/?type=outreach.email_bounced")).text()
  const listed = [...bounces.matchAll(/href="(\/events\/\w+)">([\w.]+)</g)]
  expect(listed.map(([, , type]) => type)).toEqual(["outreach.email_bounced", "outreach.email_bounced"])
  expect(await (await asBrowser(listed[0]![1])).text()).toContain("&quot;bounce_reason&quot;")
  expect((await asBrowser("/events/evt_0")).status).toBe(404)

  for (const path of ["/", "/received.json"]) {
    const json = await fetch(new URL(path, addresses.partner_url))
    expect([json.headers.get("content-type"), Object.keys((await json.json()) as object)]).toEqual([
      "application/json",
      ["counts", "duplicates", "rejected", "reconciled", "told", "events"],
    ])
  }
})

it("counts a webhook without a valid signature as refused", async () => {
  const response = await fetch(new URL("/webhooks", addresses.partner_url), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Signature": "t=1,v1=00" },
    body: "{}",
  })
  expect(response.status).toBe(401)
  expect(await (await asBrowser()).text()).toContain("; 1 without one were refused")
})

it("says how many e-mails the mail catcher keeps", async () => {
  expect(sandbox.output()).toMatch(/mail catcher .* the newest 2,000 e-mails/)
  const page = await fetch(addresses.mail_url, { headers: { Accept: "text/html" } })
  expect(await page.text()).toContain("The newest 2,000 are kept in memory")
})

it("links to the console, where the link signs in as an admin as often as it is opened", async () => {
  expect(sandbox.output()).toContain(`operator console  ${addresses.console_url}   signed in as an admin`)
  for (const _ of [1, 2]) {
    const signIn = await fetch(addresses.console_url, { redirect: "manual" })
    expect({ status: signIn.status, to: signIn.headers.get("location") }).toEqual({ status: 303, to: "/" })
    const cookie = signIn.headers.get("set-cookie")!.split(";")[0]!
    const page = await fetch(new URL("/", addresses.console_url), { headers: { cookie } })
    expect(await page.text()).toContain("<bdi>Sandbox</bdi> <small>admin</small>")
  }
})

it("leads from the sample partner's page to the partner's own view of the console", async () => {
  const url = addresses.partner_console_url
  expect(sandbox.output()).toContain(`partner's view    ${url}`)
  expect(await (await asBrowser()).text()).toContain(`<a href="${url}">`)
  const signIn = await fetch(url, { redirect: "manual" })
  const cookie = signIn.headers.get("set-cookie")!.split(";")[0]!
  const first = await fetch(new URL("/", url), { headers: { cookie } })
  expect(new URL(first.url).pathname).toBe(`/partners/${addresses.organization_id}`)
  const text = await first.text()
  expect(text).toContain("<bdi>Sample partner</bdi> <small>partner</small>")
  expect(text).toContain(`/endpoints/${addresses.endpoint_id}`)
  expect(text).toContain(`${addresses.base_url}/docs`)
  expect((await fetch(new URL("/campaigns", url), { headers: { cookie } })).status).toBe(404)
})

it("names the port that is in use, and the sandbox that holds the folder", async () => {
  const host = new URL(addresses.base_url).hostname
  const port = Number(new URL(addresses.base_url).port)
  const inUse = await Effect.runPromise(Effect.flip(checkPort(host, port)))
  expect(inUse.message).toContain(`Port ${port} is in use`)
  const consolePort = Number(new URL(addresses.console_url).port)
  const consoleInUse = await Effect.runPromise(Effect.flip(Effect.scoped(holdConsolePort(host, consolePort))))
  expect(consoleInUse.message).toContain(
    `Port ${consolePort} is in use; free it, or choose another with --console-port.`,
  )
  const held = await Effect.runPromise(Effect.flip(Effect.scoped(lockDirectory(folder))))
  expect(held.message).toContain(`A sandbox runs on ${folder} already, as process ${sandbox.pid}.`)
})

it("takes another port for the console where 8090 is in use", async () => {
  const host = loopbackAddress()
  const ports = await Effect.runPromise(
    Effect.scoped(
      Effect.map(Effect.all([holdConsolePort(host, undefined), holdConsolePort(host, undefined)]), (held) =>
        held.map(({ port }) => port),
      ),
    ),
  )
  expect(new Set(ports).size).toBe(2)
})

it("ends everything on Ctrl-C", async () => {
  const processes = processTree(sandbox.pid)
  expect(processes.length).toBeGreaterThanOrEqual(5)
  sandbox.kill("SIGINT")
  expect(await sandbox.ended).toBe(0)
  expect(processes.filter(runs)).toEqual([])
  expect(await isRefused(addresses.database_url)).toBe(true)
})
