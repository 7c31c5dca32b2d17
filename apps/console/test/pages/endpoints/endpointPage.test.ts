import { createServer } from "node:http"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import type { EndpointId } from "@outreach/domain/Identifier"
import { listen } from "@outreach/testing/listen"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { insertDeadLetters, seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { seedWaiting } from "@outreach/testing/seedWaiting"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })
const seed = (endpointUrl?: string) => test().run(seedCampaign({ recipients: 0, ...(endpointUrl && { endpointUrl }) }))
const find = (id: EndpointId) => test().run(Effect.flatMap(EndpointRepository, (endpoints) => endpoints.find(id)))
const newestReplay = async () => (await test().run(Effect.flatMap(ReplayReader, ({ list }) => list({}, 1))))[0]

let admin: Visitor
beforeAll(async () => {
  admin = await test().as("admin")
})

/** Writes the state of an endpoint's breaker, as its worker does. */
const writeBreaker = (endpointId: EndpointId, failures: number, allowance: number | null) =>
  test().run(function* () {
    const { take, token } = yield* workerOn()
    yield* take()
    const { version } = yield* (yield* EndpointRepository).find(endpointId)
    const breaker = { version, failures, allowance, probeInMs: 60_000 }
    const progress = { endpointId, breaker, outcomes: [] }
    yield* (yield* DeliveryLeases).write(token, [progress])
  })

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
  await test().run(function* () {
    const { take, settle } = yield* workerOn()
    const own = (yield* take()).filter(({ endpointId }) => endpointId === endpoint.id)
    yield* settle(own.slice(0, 2))
    yield* settle(own.slice(2), { settlement: "rejected" }, 410)
  })
  await writeBreaker(endpoint.id, 1, 1)
  await test().run(publishSent(campaign, 1))
  const { words } = await admin.get(`/endpoints/${endpoint.id}`)
  expect(words).toContain("Breaker open")
  expect(words).toMatch(/Its last calls failed.*Consecutive failures1(?!\d)/)
  expect(words).toMatch(/Lag1 event, \d+ second/)
  const calls = await admin.get(`/endpoints/${endpoint.id}/deliveries`)
  expect(calls.words).toContain("66.7 % of 3 calls")
  expect(calls.words).toMatch(/Median latency\d+ ms \(p50\)/)
})

it("names the cause of the last failure first, even if another failed more often or this one is muted", async () => {
  const { organization, endpoint, eventId } = await test().run(seedDeadLetters(0))
  const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId, reason: "rejected" } as const
  const old = { ...dead, attempts: [{ status: 503, response: "Down for maintenance" }], secondsAgo: 3600 }
  const current = { ...dead, attempts: [{ status: 404, outcome: "client_error", response: "No such route" }] }
  await test().run(insertDeadLetters([...Array(5).fill(old), current]))
  const problemOf = async () =>
    (await admin.get(`/endpoints/${endpoint.id}`)).document.querySelectorAll("main .tile > p")[1]?.textContent
  expect(await problemOf()).toMatch(/^The partner responds with 404: No such route\. Last failure: .* ago/)
  await test().query((sql) => sql`update failure_groups set muted_at = now(), muted_reason = 'x' where status = 404`)
  expect(await problemOf()).toContain("404: No such route")
  await test().query((sql) => sql`update failure_groups set closed_at = now()`)
  expect(await problemOf()).toBeUndefined()
})

it("sends a signed test event, and shows the response as text", async () => {
  const received: Array<string> = []
  const partner = createServer((request, response) => {
    received.push(String(request.headers["x-signature"]))
    response.writeHead(503).end("down for <b>maintenance</b>")
  })
  const { endpoint } = await seed(`http://127.0.0.1:${await listen(partner)}/hooks`)
  const { words } = await admin.post(`/endpoints/${endpoint.id}/test`)
  expect(received).toEqual([expect.stringMatching(/^t=\d+,v1=/)])
  expect(words).toMatch(/Not accepted .*status 503, server_error/)
  expect(words).toContain("down for <b>maintenance</b>")
})

it("offers to send the waiting deliveries after an accepted test event, and shows their job until it ends", async () => {
  const partner = createServer((_, response) => response.end())
  const { endpoint } = await test().run(seedWaiting(12))
  const path = `/endpoints/${endpoint.id}`
  await update(endpoint.id, { url: `http://127.0.0.1:${await listen(partner)}/hooks` })
  const before = await admin.get(path)
  expect(before.words).toMatch(
    /Retrying: New events are delivered\. Earlier ones wait.*Waiting for the next attempt12Dead letters0/,
  )
  expect(before.document.querySelector(".primary")!.textContent).toBe("Send 12 now…")
  expect((await admin.get(`${path}/retry`)).words).toMatch(/How many12 deliveries.*WhenNow, at 100 per second/)
  const tested = await admin.post(`${path}/test`)
  expect(tested.words).toMatch(/Accepted .*12 deliveries are waiting for a later attempt\./)
  const form = tested.document.querySelector(`form[action="${path}/retry"]`)!
  expect(form.querySelector(".primary")!.textContent).toBe("Send them now")
  const sent = await admin.post(`${path}/retry`)
  expect(sent.words).toMatch(/The replay rpl_[0-9a-f]+ sends 12 waiting deliveries at 100 per second/)
  expect(sent.words).toContain("0 of 12")
  expect(sent.document.querySelector("a[href$='/retry']")).toBeNull()
  const job = await newestReplay()
  expect(sent.document.querySelector(`a[href="/replays/${job!.id}/cancel"]`)).not.toBeNull()
  expect((await admin.post(`${path}/retry`)).words).toContain(`The replay ${job!.id} is running`)
  await test().run(
    ReplayJobQueue.use(({ replayNextChunk }) =>
      Effect.repeat(replayNextChunk, { until: (done) => "replay" in done && done.replay.state !== "running" }),
    ),
  )
  const after = await admin.get(path)
  expect(after.words).toContain("Waiting for the next attempt0")
  expect(after.words).not.toContain("of 12")
})

it("says that calls fail while their cause lasts, and offers only what its state allows", async () => {
  const { endpoint } = await test().run(seedDeadLetters(2, { reason: "rejected" }))
  const path = `/endpoints/${endpoint.id}`
  const primary = async () => (await admin.get(path)).document.querySelector(".tile .primary")!.textContent
  expect(await primary()).toBe("Enable…")
  expect((await admin.get(`${path}/retry`)).words).toContain(
    "is disabled, so its deliveries are queued. Enable it first.",
  )
  await test().query((sql) => sql`update webhook_endpoints set enabled = true where id = ${endpoint.id}`)
  expect((await admin.get(path)).words).toMatch(/Unreliable: Some calls failed in the last minutes\..*Dead letters2/)
  expect(await primary()).toBe("Replay 2 dead letters…")
  for (const [part, title] of [
    ["deliveries", "Deliveries of https://"],
    ["secrets", "Secrets of https://"],
    ["settings", "Settings of https://"],
  ]) {
    const { document } = await admin.get(`${path}/${part}`)
    expect(document.querySelector("h1")!.textContent).toContain(title)
    expect(document.querySelector("nav .chips [aria-current]")!.getAttribute("href")).toBe(`${path}/${part}`)
  }
})

const update = (id: EndpointId, given: Readonly<Record<string, string>>) => admin.post(`/endpoints/${id}/update`, given)

it("sets the headers of an endpoint, sends them with a test event, and never shows their values", async () => {
  const received: Array<unknown> = []
  const partner = createServer((request, response) => {
    received.push(request.headers["x-api-key"])
    response.end(`your key is ${request.headers["x-api-key"]}`)
  })
  const { endpoint } = await seed(`http://127.0.0.1:${await listen(partner)}/hooks`)
  const pages = [await update(endpoint.id, { headers: "X-Api-Key: t0psecret\r\nX-Team: blue" })]
  pages.push(await admin.post(`/endpoints/${endpoint.id}/test`), await admin.get(`/endpoints/${endpoint.id}/settings`))
  expect(received).toEqual(["t0psecret"])
  for (const { text } of pages) expect(text).not.toContain("t0psecret")
  expect(pages[2]!.words).toContain("HeadersX-Api-Key, X-Team")
  expect((await update(endpoint.id, { headers: "Host: a.test" })).words).toContain("line 1 has a reserved name")
  const moved = await update(endpoint.id, { url: "https://new.test/" })
  expect(moved.words).toContain("enter the headers (X-Api-Key, X-Team) again, or none")
  await update(endpoint.id, { url: "https://new.test/", headers: "none" })
  expect((await find(endpoint.id)).headers).toEqual([])
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
  expect(started.words).toMatch(/The replay rpl_[0-9a-f]+ sends 6 events at 20 per second/)
  expect(await newestReplay()).toMatchObject({ kind: "log", endpointId: endpoint.id, total: 6, rate: 20 })
})

it("rejects a change from an old page with both values", async () => {
  const { endpoint } = await seed("https://partner.test/in?key=topsecret")
  const page = `/endpoints/${endpoint.id}`
  const { document } = await admin.get(`${page}/settings`)
  const version = document.querySelector(`form[action="${page}/update"] input[name=version]`)!.getAttribute("value")!
  const form = { version, "in-flight": "none", "standard-webhooks": "no" }
  await update(endpoint.id, { ...form, types: "outreach.email_sent" })
  const given = { types: "all", "in-flight": "5", url: "https://new.test/?a=b" }
  const refused = await update(endpoint.id, { ...form, ...given })
  expect(refused.status).toBe(409)
  expect(refused.words).toContain(
    "Address is now https://partner.test/in?…. Event types is now outreach.email_sent. Concurrent calls is now none. Compare",
  )
  expect(await find(endpoint.id)).toMatchObject({ eventTypes: ["outreach.email_sent"], maxInFlight: null })
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
