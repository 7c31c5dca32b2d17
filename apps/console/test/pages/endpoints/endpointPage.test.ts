import { createServer } from "node:http"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
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
import { afterEach, expect, it } from "vitest"
import { startConsole, versionIn } from "../../startConsole.ts"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const seed = (endpointUrl?: string) => test().run(seedCampaign({ recipients: 0, ...(endpointUrl && { endpointUrl }) }))
const find = (id: EndpointId) => test().run(Effect.flatMap(EndpointRepository, (endpoints) => endpoints.find(id)))
afterEach(() => expect(test().logs.filter((line) => line.includes("unhandled error"))).toEqual([]))

/** Writes what an endpoint's breaker has come to, as its worker does. */
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

it("lists the endpoints that need somebody first, and those of one organization alone to its operators", async () => {
  const [well, ill] = [await seed(), await seed("https://ill.test/hooks?key=topsecret")]
  await writeBreaker(ill.endpoint.id, 5, 1)
  const viewer = await test().as("viewer")
  const { document, text } = await viewer.get("/endpoints")
  const addresses = [...document.querySelectorAll("tbody td:first-child")].map(({ textContent }) => textContent)
  expect(addresses[0]).toBe("https://ill.test/hooks?…")
  expect(text).not.toContain("topsecret")
  const sorted = await viewer.get("/endpoints?sort=-Address")
  expect([...sorted.document.querySelectorAll("tbody td:first-child")].at(-1)!.textContent).toBe(
    addresses.toSorted()[0],
  )
  expect(sorted.document.querySelector("th[aria-sort=descending]")!.textContent).toBe("Address ↓")
  expect((await viewer.get(`/endpoints?organization=${well.organization.id}`)).words).not.toContain("ill.test")
  const bound = await test().as("viewer", well.organization.id)
  expect((await bound.get("/endpoints")).words).not.toContain("ill.test")
  expect((await bound.get(`/endpoints/${ill.endpoint.id}`)).status).toBe(404)
})

it("shows how far an endpoint is behind, how it answered, and when its breaker opened", async () => {
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
  await writeBreaker(endpoint.id, 5, 1)
  await test().run(publishSent(campaign, 1))
  const { words } = await (await test().as("viewer")).get(`/endpoints/${endpoint.id}`)
  expect(words).toContain("Breaker open")
  expect(words).toMatch(/Behind the log1 event, \d+ second/)
  expect(words).toContain("66.7 % of 3 calls")
  expect(words).toMatch(/Half of the calls within\d+ ms \(p50\)/)
  expect(words).toMatch(/Opened5.*until now/)
  expect(words).toContain(`ops endpoints show ${endpoint.id}`)
})

it("names the cause of the last failure first, whichever failed most or is muted", async () => {
  const { organization, endpoint, eventId } = await test().run(seedDeadLetters(0))
  const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId, reason: "rejected" } as const
  const made = { number: 1, startedAt: Timestamp.make("2026-11-01T00:00:00.000000Z"), latencyMs: 5 }
  const old = { ...made, status: 503, outcome: "server_error", response: "Down for maintenance" }
  const current = { ...made, status: 404, outcome: "client_error", response: "No such route" }
  await test().run(insertDeadLetters(Array(5).fill({ ...dead, attempts: [old], secondsAgo: 3600 })))
  await test().run(insertDeadLetters([{ ...dead, attempts: [current] }]))
  const viewer = await test().as("viewer")
  const problemOf = async () => {
    const { document } = await viewer.get(`/endpoints/${endpoint.id}`)
    return document.querySelector("main .problem")?.textContent
  }
  expect(await problemOf()).toMatch(/^The partner answers 404: No such route\. The last call failed so .* ago/)
  const { document } = await viewer.get(`/endpoints/${endpoint.id}`)
  expect(document.querySelector("main tbody tr")?.textContent).toContain("404 No such route")
  await test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`update failure_groups set muted_at = now(), muted_reason = 'x' where status = 404`,
    ),
  )
  expect(await problemOf()).toContain("404: No such route")
  await test().run(SqlClient.SqlClient.use((sql) => sql`update failure_groups set closed_at = now()`))
  expect(await problemOf()).toBeUndefined()
})

it("sends a signed test event, and shows the response", async () => {
  const received: Array<string> = []
  const partner = createServer((request, response) => {
    received.push(String(request.headers["x-signature"]))
    response.writeHead(503).end("down for <b>maintenance</b>")
  })
  const { endpoint } = await seed(`http://127.0.0.1:${await listen(partner)}/hooks`)
  const operator = await test().as("operator")
  const { words, document } = await operator.post(`/endpoints/${endpoint.id}/test`)
  expect(received).toEqual([expect.stringMatching(/^t=\d+,v1=/)])
  expect(words).toContain("Not accepted")
  expect(words).toContain("503")
  expect(document.querySelector("main pre")?.textContent).toBe("down for <b>maintenance</b>")
  expect((await (await test().as("viewer")).post(`/endpoints/${endpoint.id}/test`)).status).toBe(403)
})

it("lets an admin fix an endpoint: its address, its types, its headers, and nothing that was left as it is", async () => {
  const { endpoint } = await seed()
  const admin = await test().as("admin")
  const path = `/endpoints/${endpoint.id}/update`
  const update = async (given: Readonly<Record<string, string>>) =>
    admin.post(path, { version: versionIn(await admin.get(`/endpoints/${endpoint.id}`), path), ...given })
  const fields = {
    types: "outreach.email_sent,outreach.email_bounced",
    "per-second": "10",
    "in-flight": "3",
    "standard-webhooks": "yes",
  }
  const changed = await update({ url: "https://new.test/in", ...fields })
  expect(changed.words).toContain("Changed.")
  expect(await find(endpoint.id)).toMatchObject({
    url: "https://new.test/in",
    eventTypes: ["outreach.email_sent", "outreach.email_bounced"],
    perSecond: 10,
    maxInFlight: 3,
    standardWebhooks: true,
  })
  expect((await update({ url: "", ...fields })).words).toContain("Nothing was changed")
  const refused = await update({ url: "ftp://new.test/in" })
  expect([refused.status, refused.words]).toEqual([409, expect.stringContaining("The endpoint's URL cannot be used")])
  expect((await update({ types: "outreach.unheard_of" })).status).toBe(400)
  const tooMany = await update({ "per-second": "10001" })
  expect([tooMany.status, tooMany.words]).toEqual([
    400,
    expect.stringContaining("a whole number from 1 to 10000, or none"),
  ])
  const facts = (await admin.get(`/endpoints/${endpoint.id}`)).words
  expect(facts).toMatch(/In flight at most3/)
  expect(facts).toMatch(/Calls a second at most10/)
  await update({ types: "all", "per-second": "none", "in-flight": "none" })
  expect(await find(endpoint.id)).toMatchObject({
    ...{ eventTypes: null, perSecond: null, maxInFlight: null, url: "https://new.test/in" },
  })
  expect((await (await test().as("operator")).post(path, { url: "https://other.test/" })).status).toBe(403)
  const log = await test().run(
    Effect.provide(
      Effect.flatMap(AuditLog, ({ list }) => list({ command: "endpoints" }, 20)),
      AuditLog.layer,
    ),
  )
  expect(log).toContainEqual(
    expect.objectContaining({
      command: "endpoints update",
      arguments: expect.objectContaining({ endpoint: endpoint.id, url: "https://new.test", "in-flight": 3 }),
    }),
  )
})

it("lets an admin choose which 4xx are final, and the schedule", async () => {
  const { endpoint } = await seed()
  const admin = await test().as("admin")
  const page = `/endpoints/${endpoint.id}`
  const path = `${page}/update`
  const before = await admin.get(page)
  expect(before.words).toContain("Retry statusesnone")
  expect(before.words).toContain("7 attempts: 30s,2m,10m,1h,6h,24h (default)")
  const update = async (given: Readonly<Record<string, string>>) =>
    admin.post(path, { version: versionIn(await admin.get(page), path), ...given })
  const fields = { "retry-statuses": "408,503,410=disable", "retry-schedule": "10s,1m" }
  expect((await update(fields)).words).toContain("Changed.")
  const rules = { retryStatuses: [408, 503], disableOnGone: true, retryDelays: [10, 60] }
  expect(await find(endpoint.id)).toMatchObject(rules)
  const after = await admin.get(page)
  expect(after.words).toContain("Retry statuses408,503,410=disable")
  expect(after.words).toContain("3 attempts: 10s,1m")
  expect((await update(fields)).words).toContain("Nothing was changed")
  const refused = await update({ "retry-statuses": "301" })
  expect([refused.status, refused.words]).toEqual([400, expect.stringContaining("301 is always tried again")])
  expect((await update({ "retry-schedule": "10s,never" })).status).toBe(400)
  await update({ "retry-statuses": "none", "retry-schedule": "default" })
  const specified = { retryStatuses: [], disableOnGone: false, retryDelays: null }
  expect(await find(endpoint.id)).toMatchObject(specified)
})

it("says of a disabled endpoint whether it was gone", async () => {
  const { endpoint } = await seed()
  await test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`select disable_endpoint(id, version, 'gone') from webhook_endpoints where id = ${endpoint.id}`,
    ),
  )
  const { words } = await (await test().as("viewer")).get(`/endpoints/${endpoint.id}`)
  expect(words).toContain("It answered 410, which disables it.")
})

it("holds an endpoint's deliveries while it is disabled", async () => {
  const { endpoint } = await seed()
  const admin = await test().as("admin")
  const asked = await admin.get(`/endpoints/${endpoint.id}/disable`)
  expect(asked.words).toContain("What is published from now on waits as well")
  expect(asked.document.querySelector("input[name=typed]")).toBeNull()
  const disabled = await admin.post(`/endpoints/${endpoint.id}/disable`)
  expect(disabled.words).toContain("Its deliveries wait until it is enabled")
  expect((await find(endpoint.id)).enabled).toBe(false)
  await admin.post(`/endpoints/${endpoint.id}/enable`)
  expect((await find(endpoint.id)).enabled).toBe(true)
  expect((await (await test().as("operator")).post(`/endpoints/${endpoint.id}/disable`)).status).toBe(403)
})

it("enables an endpoint that failed, and sends what it missed, if that is ticked", async () => {
  const { endpoint } = await test().run(seedDeadLetters(2))
  await test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`
        update endpoint_readers set failing_since = clock_timestamp() - interval '6 days', notices = 3 where endpoint_id = ${endpoint.id}`,
    ),
  )
  const admin = await test().as("admin")
  const path = `/endpoints/${endpoint.id}`
  await test().run(Effect.flatMap(EndpointRepository, ({ disable }) => disable(endpoint.id)))
  const { words, document } = await admin.get(path)
  expect(words).toContain("Every call has failed since")
  const asked = await admin.get(document.querySelector(`a[href="${path}/enable"]`)!.getAttribute("href")!)
  expect(asked.words).toContain("Send the 2 events that it missed")
  const enabled = await admin.post(`${path}/enable`, { "replay-missed": "true" })
  expect(enabled.words).toContain("The 2 events that it missed are sent to it, each once")
  const [job] = await test().run(Effect.flatMap(ReplayReader, ({ list }) => list(1)))
  expect(job).toMatchObject({ kind: "dead_letters", endpointId: endpoint.id, total: 2 })
  expect(await find(endpoint.id)).toMatchObject({ enabled: true, failingSince: null })
  expect((await admin.get(`${path}/enable`)).words).not.toContain("that it missed")
})

it("counts a period of the log before it sends it again", async () => {
  const { endpoint, campaign } = await seed()
  await test().run(publishSent(campaign, 6))
  const operator = await test().as("operator")
  const [from, to] = ["2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]
  const path = `/endpoints/${endpoint.id}/replay`
  const counted = await operator.get(`${path}?from=${from}&to=${to}`)
  expect(counted.words).toContain("How many6 events, delivered before or not")
  expect((await operator.get(`${path}?from=${from}&to=${to}&types=outreach.email_bounced`)).words).toContain(
    "No event was published in this period",
  )
  const started = await operator.post(path, { from, to, rate: "20" })
  expect(started.words).toMatch(/The replay rpl_[0-9a-f]+ sends 6 events, 20 a second/)
  const [job] = await test().run(Effect.flatMap(ReplayReader, ({ list }) => list(1)))
  expect(job).toMatchObject({ kind: "log", endpointId: endpoint.id, total: 6, rate: 20 })
  const again = await operator.post(path, { from, to, rate: "20" })
  expect(again.status).toBe(409)
  expect(again.words).toContain(`The replay ${job!.id} is running`)
  const reversed = { from: "2026-12-01T09:00:00.5Z", to: "2026-12-01T09:00:00Z", rate: "20" }
  expect((await operator.post(path, reversed)).words).toContain(
    "Published before is not valid. It must not be before Published at or after.",
  )
  expect((await operator.post(path, { from, to, rate: "0" })).status).toBe(400)
  expect((await (await test().as("viewer")).post(path, { from, to, rate: "1" })).status).toBe(403)
})

it("shows a page that says so for an endpoint that is nobody's", async () => {
  const viewer = await test().as("viewer")
  expect((await viewer.get(`/endpoints/whe_${"0".repeat(32)}`)).status).toBe(404)
})

it("refuses a change from an old page with both values, so that it undoes nobody's", async () => {
  const { endpoint } = await seed("https://partner.test/in?key=topsecret")
  const page = `/endpoints/${endpoint.id}`
  const [one, other] = [await test().as("admin"), await test().as("admin")]
  const version = versionIn(await one.get(page), `${page}/update`)
  const form = { version, "in-flight": "none", "standard-webhooks": "no" }
  const first = await other.post(`${page}/update`, { ...form, types: "outreach.email_sent" })
  expect(first.words).toContain("Changed.")
  const refused = await one.post(`${page}/update`, {
    ...form,
    types: "all",
    "in-flight": "5",
    url: "https://new.test/?a=b",
  })
  expect(refused.status).toBe(409)
  expect(refused.words).toContain("Event types: it is outreach.email_sent, and you gave all.")
  expect(refused.words).toContain("Calls in flight: it is none, and you gave 5.")
  expect(refused.words).toContain("Address: it is https://partner.test/in?…, and you gave another.")
  expect(refused.words).not.toContain("Standard Webhooks headers: it is")
  expect((await one.post(`${page}/update`, { types: "all" })).status).toBe(409)
  expect(await find(endpoint.id)).toMatchObject({ eventTypes: ["outreach.email_sent"], maxInFlight: null })
})

it("takes one of several changes from the same page that come at once", async () => {
  const { endpoint } = await seed()
  const page = `/endpoints/${endpoint.id}`
  const admin = await test().as("admin")
  const version = versionIn(await admin.get(page), `${page}/update`)
  const answers = await Promise.all(
    ["1", "2", "3", "4", "5"].map((n) => admin.post(`${page}/update`, { version, "in-flight": n })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
})

it("shows the whole address to an operator who asks for it, which the audit log records, and nowhere else", async () => {
  const address = "https://partner.test/services/T0123/xoxb8fKq0dJx2LmWv7TzRb5N?key=topsecret"
  const { endpoint, campaign } = await seed(address)
  await test().run(publishSent(campaign, 1))
  const path = `/endpoints/${endpoint.id}`
  const [viewer, operator] = [await test().as("viewer"), await test().as("operator")]
  const page = await operator.get(path)
  expect(page.document.querySelector("h1")!.textContent).toBe("https://partner.test/services/T0123/…?…")
  expect(page.text).not.toMatch(/topsecret|xoxb/)
  const list = await operator.get(`/deliveries?endpoint=${endpoint.id}`)
  const delivery = list.document.querySelector("a[href^='/deliveries/dlv_']")!.getAttribute("href")!
  for (const shown of [await operator.get(delivery), await operator.post(`${delivery}/show`)]) {
    expect(shown.words).toContain("POST https://partner.test/services/T0123/…?…")
    expect(shown.text).not.toMatch(/topsecret|xoxb/)
  }
  expect((await viewer.post(`${path}/show`, { reveal: "true" })).status).toBe(403)
  expect((await operator.post(`${path}/show`, { reveal: "true" })).words).toContain(address)
  const { entries } = await test().run(
    Effect.provide(
      Effect.flatMap(AuditLog, ({ page }) => page({ command: "endpoints show" }, 10)),
      AuditLog.layer,
    ),
  )
  expect(entries).toMatchObject([{ arguments: { endpoint: endpoint.id, reveal: "true" }, result: "succeeded" }])
})
