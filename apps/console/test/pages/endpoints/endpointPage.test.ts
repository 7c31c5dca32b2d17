import { createServer } from "node:http"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, expect, it } from "vitest"
import { startConsole, type Visitor, versionIn } from "../../startConsole.ts"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const seed = (endpointUrl?: string) => test().run(seedCampaign({ recipients: 0, ...(endpointUrl && { endpointUrl }) }))
const find = (id: EndpointId) => test().run(Effect.flatMap(EndpointRepository, (endpoints) => endpoints.find(id)))
const execute = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  test().run(Effect.orDie(SqlClient.SqlClient.use(statement)))
const newestReplay = async () => (await test().run(Effect.flatMap(ReplayReader, ({ list }) => list(1))))[0]

let admin: Visitor
beforeAll(async () => {
  admin = await test().as("admin")
})

/** Writes the state of an endpoint's breaker, as its worker does. */
const writeBreaker = (endpointId: EndpointId, failures: number, allowance: number | null) =>
  test().run(
    Effect.gen(function* () {
      const { take, token } = yield* workerOn()
      yield* take()
      const { version } = yield* (yield* EndpointRepository).find(endpointId)
      const breaker = { version, failures, allowance, probeInMs: 60_000 }
      const progress = { endpointId, open: undefined, intent: undefined, breaker, outcomes: [] }
      yield* (yield* DeliveryLeases).write(token, [progress])
    }),
  )

it("lists failing endpoints first, without the secret parts of addresses", async () => {
  const [well, ill] = [await seed(), await seed("https://ill.test/hooks?key=topsecret")]
  await writeBreaker(ill.endpoint.id, 5, 1)
  const { document, text } = await admin.get("/endpoints")
  const placeOf = ({ endpoint }: typeof ill) =>
    [...document.querySelectorAll("tbody tr")].findIndex((row) => row.querySelector(`a[href$="${endpoint.id}"]`))
  expect(placeOf(ill)).toBeLessThan(placeOf(well))
  const addresses = [...document.querySelectorAll("tbody td:first-child")].map(({ textContent }) => textContent)
  expect(addresses).toContain("https://ill.test/hooks?…")
  expect(text).not.toContain("topsecret")
  expect((await admin.get(`/endpoints?organization=${well.organization.id}`)).words).not.toContain("ill.test")
})

it("shows an endpoint's lag, its breaker, and the shares and latency of its calls", async () => {
  const { endpoint, campaign } = await seed()
  await test().run(publishSent(campaign, 3))
  await test().run(
    Effect.gen(function* () {
      const { take, settle } = yield* workerOn()
      const own = (yield* take()).filter(({ endpointId }) => endpointId === endpoint.id)
      yield* settle(own.slice(0, 2))
      yield* settle(own.slice(2), { state: "rejected" }, 410)
    }),
  )
  await writeBreaker(endpoint.id, 1, 1)
  await test().run(publishSent(campaign, 1))
  const { words } = await admin.get(`/endpoints/${endpoint.id}`)
  expect(words).toContain("Breaker open")
  expect(words).toMatch(/Its last calls failed.*Consecutive failures1(?!\d)/)
  expect(words).toMatch(/Lag1 event, \d+ second/)
  expect(words).toContain("66.7 % of 3 calls")
  expect(words).toMatch(/Median latency\d+ ms \(p50\)/)
})

it("names the cause of the last failure first, even if another failed more often or this one is muted", async () => {
  const { organization, endpoint, eventId } = await test().run(seedDeadLetters(0))
  const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId, reason: "rejected" } as const
  const made = { number: 1, startedAt: Timestamp.make("2026-11-01T00:00:00.000000Z"), latencyMs: 5 }
  const old = { ...made, status: 503, outcome: "server_error", response: "Down for maintenance" }
  const current = { ...made, status: 404, outcome: "client_error", response: "No such route" }
  await test().run(insertDeadLetters(Array(5).fill({ ...dead, attempts: [old], secondsAgo: 3600 })))
  await test().run(insertDeadLetters([{ ...dead, attempts: [current] }]))
  const problemOf = async () =>
    (await admin.get(`/endpoints/${endpoint.id}`)).document.querySelector("main .problem")?.textContent
  expect(await problemOf()).toMatch(/^The partner responds with 404: No such route\. Last failure: .* ago/)
  await execute((sql) => sql`update failure_groups set muted_at = now(), muted_reason = 'x' where status = 404`)
  expect(await problemOf()).toContain("404: No such route")
  await execute((sql) => sql`update failure_groups set closed_at = now()`)
  expect(await problemOf()).toBeUndefined()
})

it("sends a signed test event, and shows the response as text", async () => {
  const received: Array<string> = []
  const partner = createServer((request, response) => {
    received.push(String(request.headers["x-signature"]))
    response.writeHead(503).end("down for <b>maintenance</b>")
  })
  const { endpoint } = await seed(`http://127.0.0.1:${await listen(partner)}/hooks`)
  const { words, document } = await admin.post(`/endpoints/${endpoint.id}/test`)
  expect(received).toEqual([expect.stringMatching(/^t=\d+,v1=/)])
  expect(words).toContain("Not accepted")
  expect(document.querySelector("main pre")?.textContent).toBe("down for <b>maintenance</b>")
})

/** Sends the form of an endpoint's settings with the version that its page shows. */
const update = async (id: EndpointId, given: Readonly<Record<string, string>>) => {
  const path = `/endpoints/${id}/update`
  return admin.post(path, { version: versionIn(await admin.get(`/endpoints/${id}`), path), ...given })
}

it("changes only the given settings of an endpoint", async () => {
  const { endpoint } = await seed()
  const fields = {
    types: "outreach.email_sent,outreach.email_bounced",
    "per-second": "10",
    "in-flight": "3",
    "standard-webhooks": "yes",
  }
  expect((await update(endpoint.id, { url: "https://new.test/in", ...fields })).words).toContain("Saved.")
  expect(await find(endpoint.id)).toMatchObject({
    url: "https://new.test/in",
    eventTypes: ["outreach.email_sent", "outreach.email_bounced"],
    perSecond: 10,
    maxInFlight: 3,
    standardWebhooks: true,
  })
  expect((await update(endpoint.id, { url: "", ...fields })).words).toContain("No change: these")
  const rejected: ReadonlyArray<readonly [Record<string, string>, number, RegExp]> = [
    [{ url: "ftp://new.test/in" }, 409, /The endpoint's URL cannot be used/],
    [{ types: "outreach.unheard_of" }, 400, /not valid/],
    [{ "per-second": "10001" }, 400, /a whole number from 1 to 10000, or none/],
  ]
  for (const [given, status, words] of rejected) {
    const refused = await update(endpoint.id, given)
    expect([refused.status, refused.words]).toEqual([status, expect.stringMatching(words)])
  }
  const facts = (await admin.get(`/endpoints/${endpoint.id}`)).words
  expect(facts).toMatch(/Maximum concurrent calls3/)
  expect(facts).toMatch(/Maximum calls per second10/)
  await update(endpoint.id, { types: "all", "per-second": "none", "in-flight": "none" })
  expect(await find(endpoint.id)).toMatchObject({
    ...{ eventTypes: null, perSecond: null, maxInFlight: null, url: "https://new.test/in" },
  })
})

it("changes the final statuses and the schedule of an endpoint", async () => {
  const { endpoint } = await seed()
  const page = `/endpoints/${endpoint.id}`
  const before = await admin.get(page)
  expect(before.words).toContain("Retry statusesnone")
  expect(before.words).toContain("7 attempts: 30s,2m,10m,1h,6h,24h (default)")
  await update(endpoint.id, { "retry-statuses": "408,503,410=disable", "retry-schedule": "10s,1m" })
  const rules = { retryStatuses: [408, 503], disableOnGone: true, retryDelays: [10, 60] }
  expect(await find(endpoint.id)).toMatchObject(rules)
  const after = await admin.get(page)
  expect(after.words).toContain("Retry statuses408,503,410=disable")
  expect(after.words).toContain("3 attempts: 10s,1m")
  expect((await update(endpoint.id, { "retry-statuses": "301" })).words).toContain("301 is always tried again")
  expect((await update(endpoint.id, { "retry-schedule": "10s,never" })).status).toBe(400)
  await update(endpoint.id, { "retry-statuses": "none", "retry-schedule": "default" })
  const specified = { retryStatuses: [], disableOnGone: false, retryDelays: null }
  expect(await find(endpoint.id)).toMatchObject(specified)
})

it("disables and enables an endpoint", async () => {
  const { endpoint } = await seed()
  const asked = await admin.get(`/endpoints/${endpoint.id}/disable`)
  expect(asked.words).toContain("New events are queued until it is enabled")
  await admin.post(`/endpoints/${endpoint.id}/disable`)
  expect((await find(endpoint.id)).enabled).toBe(false)
  await admin.post(`/endpoints/${endpoint.id}/enable`)
  expect((await find(endpoint.id)).enabled).toBe(true)
})

it("enables an endpoint that failed, and sends the missed events if that is checked", async () => {
  const { endpoint } = await test().run(seedDeadLetters(2))
  await execute(
    (sql) => sql`
      update endpoint_readers set failing_since = clock_timestamp() - interval '6 days', notices = 3 where endpoint_id = ${endpoint.id}`,
  )
  const path = `/endpoints/${endpoint.id}`
  await test().run(Effect.flatMap(EndpointRepository, ({ disable }) => disable(endpoint.id)))
  const { words, document } = await admin.get(path)
  expect(words).toContain("Failing since")
  const asked = await admin.get(document.querySelector(`a[href="${path}/enable"]`)!.getAttribute("href")!)
  expect(asked.words).toContain("Send 2 missed events")
  const enabled = await admin.post(`${path}/enable`, { "replay-missed": "true" })
  expect(enabled.words).toContain("2 missed events will be sent once")
  expect(await newestReplay()).toMatchObject({ kind: "dead_letters", endpointId: endpoint.id, total: 2 })
  expect(await find(endpoint.id)).toMatchObject({ enabled: true, failingSince: null })
})

it("offers no action for a removed endpoint, and shows why", async () => {
  const { endpoint, organization } = await seed()
  await admin.post(`/endpoints/${endpoint.id}/remove`, { typed: organization.name })
  for (const action of ["enable", "disable", "remove", "replay"]) {
    const { document, words } = await admin.get(`/endpoints/${endpoint.id}/${action}`)
    expect(document.querySelectorAll("main form[method=post]")).toHaveLength(0)
    expect(words).toContain("was removed at")
  }
})

it("counts a period of the log before it replays the period", async () => {
  const { endpoint, campaign } = await seed()
  await test().run(publishSent(campaign, 6))
  const [from, to] = ["2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]
  const path = `/endpoints/${endpoint.id}/replay`
  const counted = await admin.get(`${path}?from=${from}&to=${to}`)
  expect(counted.words).toContain("How many6 events, including those delivered before")
  const none = await admin.get(`${path}?from=${from}&to=${to}&types=outreach.email_bounced`)
  expect(none.words).toContain("No events were published in this period")
  const started = await admin.post(path, { from, to, rate: "20" })
  expect(started.words).toMatch(/Replay rpl_[0-9a-f]+ started: 6 events at 20 per second/)
  const job = await newestReplay()
  expect(job).toMatchObject({ kind: "log", endpointId: endpoint.id, total: 6, rate: 20 })
  const again = await admin.post(path, { from, to, rate: "20" })
  expect([again.status, again.words]).toEqual([409, expect.stringContaining(`The replay ${job!.id} is running`)])
  const reversed = { from: "2026-01-01T09:00:00.5Z", to: "2026-01-01T09:00:00Z", rate: "20" }
  expect((await admin.post(path, reversed)).words).toContain(
    "Published before is not valid. It must not be before Published at or after.",
  )
  expect((await admin.post(path, { from, to, rate: "0" })).status).toBe(400)
})

it("rejects a change from an old page with both values, and accepts one of several at once", async () => {
  const { endpoint } = await seed("https://partner.test/in?key=topsecret")
  const page = `/endpoints/${endpoint.id}`
  const version = versionIn(await admin.get(page), `${page}/update`)
  const form = { version, "in-flight": "none", "standard-webhooks": "no" }
  await update(endpoint.id, { ...form, types: "outreach.email_sent", version })
  const given = { types: "all", "in-flight": "5", url: "https://new.test/?a=b" }
  const refused = await admin.post(`${page}/update`, { ...form, ...given })
  expect(refused.status).toBe(409)
  expect(refused.words).toContain("Event types: now outreach.email_sent, yours all.")
  expect(refused.words).toContain("Concurrent calls: now none, yours 5.")
  expect(refused.words).toContain("Address: now https://partner.test/in?…, yours different.")
  expect(refused.words).not.toContain("Standard Webhooks headers: now")
  expect((await admin.post(`${page}/update`, { types: "all" })).status).toBe(409)
  expect(await find(endpoint.id)).toMatchObject({ eventTypes: ["outreach.email_sent"], maxInFlight: null })
  const next = versionIn(await admin.get(page), `${page}/update`)
  const change = (n: string) => admin.post(`${page}/update`, { version: next, "in-flight": n })
  const answers = await Promise.all(["1", "2", "3", "4", "5"].map(change))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
})

it("shows the full address of an endpoint only on request", async () => {
  const address = "https://partner.test/services/T0123/xoxb8fKq0dJx2LmWv7TzRb5N?key=topsecret"
  const { endpoint, campaign } = await seed(address)
  await test().run(publishSent(campaign, 1))
  const path = `/endpoints/${endpoint.id}`
  const page = await admin.get(path)
  expect(page.document.querySelector("h1")!.textContent).toBe("https://partner.test/services/T0123/…?…")
  const list = await admin.get(`/deliveries?endpoint=${endpoint.id}`)
  const delivery = list.document.querySelector("a[href^='/deliveries/dlv_']")!.getAttribute("href")!
  const shown = [await admin.get(delivery), await admin.post(`${delivery}/show`, { reveal: "true" })]
  for (const { words } of shown) expect(words).toContain("POST https://partner.test/services/T0123/…?…")
  for (const { text } of [page, list, ...shown]) expect(text).not.toMatch(/topsecret|xoxb/)
  expect((await admin.post(`${path}/show`, { reveal: "true" })).words).toContain(address)
})
