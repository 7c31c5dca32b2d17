import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

/** An endpoint with 4 deliveries that arrived, 1 that waits for a retry, 2 dead letters, and 1 that waits in the log. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  const { take, settle } = yield* workerOn()
  yield* publishSent(seeded.campaign, 7)
  const taken = (yield* take()).filter(({ endpointId }) => endpointId === seeded.endpoint.id)
  yield* settle(taken.slice(0, 4))
  yield* settle(taken.slice(4, 5), { state: "retry", delaySeconds: 3600 }, 503)
  yield* settle(taken.slice(5), { state: "rejected" }, 410)
  yield* publishSent(seeded.campaign, 1)
  return { ...seeded, taken }
})

let ours: Effect.Success<typeof seed>
let theirs: typeof ours
/** What tests change. */
let changed: typeof ours
const only = () => `endpoint=${ours.endpoint.id}`
const waiting = ({ taken } = ours): Delivery => taken[4]!
const dead = ({ taken } = ours): Delivery => taken[5]!

beforeAll(async () => {
  theirs = await test().run(seed)
  changed = await test().run(seed)
  ours = await test().run(seed)
})

const idsIn = (document: Document) =>
  [...document.querySelectorAll("section[aria-label=Deliveries] tbody td:first-child a")].map(
    ({ textContent }) => textContent,
  )

describe("deliveries", () => {
  it("show the outcomes of attempts over time, and the deliveries of the range, newest first", async () => {
    const viewer = await test().as("viewer")
    const { status, words, document } = await viewer.get(`/deliveries?${only()}`)
    expect(status).toBe(200)
    expect(words).toContain("57.1 % of 7 attempts arrived. 2 became dead letters.")
    expect(document.querySelector("svg[role=img]")!.getAttribute("aria-label")).toBe(
      "Attempts by outcome: 4 delivered, 3 4xx, 0 5xx, 0 another status, 0 no response",
    )
    expect(idsIn(document)).toHaveLength(8)
    expect(document.querySelector("figure.chart")!.getAttribute("data-brush")).toBe(`/deliveries?${only()}`)
    expect(words).toContain(`ops deliveries list --endpoint ${ours.endpoint.id}`)
    expect(document.querySelectorAll("main form[method=post]")).toHaveLength(0)
  })

  it("are narrowed by chips for the state and for the status of dead letters", async () => {
    const viewer = await test().as("viewer")
    const { document } = await viewer.get(`/deliveries?${only()}`)
    const chip = (text: string) =>
      [...document.querySelectorAll(".chips a")].find(({ textContent }) => textContent === text)!.getAttribute("href")!
    const count = async (text: string) => idsIn((await viewer.get(chip(text))).document).length
    expect(await count("Waiting")).toBe(2)
    expect(await count("Delivered")).toBe(4)
    expect(await count("Dead letters")).toBe(2)
    expect(await count("Rejected")).toBe(2)
    expect(await count("Attempts used up")).toBe(0)
    expect(await count("410: 2")).toBe(2)
    const narrowed = await viewer.get(`/deliveries?${only()}&type=outreach.email_opened`)
    expect(narrowed.words).toContain("No delivery is like this.")
    const { words } = await viewer.get("/deliveries?state=lost&status=7&from=yesterday")
    expect(words).toContain("state is not valid.")
    expect(words).toContain("Status is not valid. It must be an HTTP status from 100 to 599.")
    expect(words).toContain("From is not valid.")
  })

  it("show their last attempt, by whose status, outcome and latency they are filtered and ordered", async () => {
    const viewer = await test().as("viewer")
    const read = (query: string) => viewer.get(`/deliveries?${only()}&${query}`)
    const retried = await read("status=503")
    expect(idsIn(retried.document)).toEqual([waiting().id])
    expect(retried.words).toContain("503")
    expect(retried.words).toContain("12 ms")
    expect(idsIn((await read("outcome=client_error")).document)).toHaveLength(3)
    expect(idsIn((await read("outcome=client_error&state=dead")).document)).toHaveLength(2)
    expect(idsIn((await read("outcome=tls")).document)).toEqual([])
    const slow = await read("slower-than=2s&status=503&order=slowest")
    expect(idsIn(slow.document)).toEqual([])
    expect(slow.words).toContain("--status 503 --slower-than 2s")
    expect(slow.words).toContain(" --slowest")
    expect(idsIn((await read("order=slowest")).document)).toHaveLength(7)
    expect((await read("slower-than=fast")).words).toContain("Slower than is not valid.")
  })

  it("are listed a page after the other, each once", async () => {
    const viewer = await test().as("viewer")
    const many = await test().run(seedCampaign({ recipients: 1 }))
    await test().run(publishSent(many.campaign, 120))
    const seen: Array<string | null> = []
    let path: string | null | undefined = `/deliveries?endpoint=${many.endpoint.id}`
    const sizes: Array<number> = []
    while (path != null) {
      const { document } = await viewer.get(path)
      seen.push(...idsIn(document))
      sizes.push(idsIn(document).length)
      path = document.querySelector("a[rel=next]")?.getAttribute("href")
    }
    expect(sizes.filter((size) => size > 0)).toEqual([50, 50, 20])
    expect(new Set(seen).size).toBe(120)
  })

  it("shows an operator of one organization nothing of another", async () => {
    const viewer = await test().as("viewer", ours.organization.id)
    const { document, text } = await viewer.get("/deliveries")
    expect(idsIn(document)).toHaveLength(8)
    expect(text).not.toContain(theirs.endpoint.id)
    expect((await viewer.get(`/deliveries?endpoint=${theirs.endpoint.id}`)).status).toBe(404)
    expect((await viewer.get(`/deliveries/${theirs.taken[0]!.id}`)).status).toBe(404)
  })
})

describe("a delivery", () => {
  it("shows its attempts, its request and its next attempt without personal data", async () => {
    const viewer = await test().as("viewer")
    const { words, document, text } = await viewer.get(`/deliveries/${waiting().id}`)
    expect(words).toMatch(/Next attemptin 59 minutes|Next attemptin 1 hour/)
    expect(words).toContain("Attempts1 of 7")
    expect(Number(document.querySelector("[data-until]")!.getAttribute("data-until"))).toBeGreaterThan(Date.now())
    expect(words).toContain("503")
    expect(words).toContain("12 ms")
    expect(words).toContain(`X-Delivery-Id: ${waiting().id}`)
    expect(words).toContain(`X-Signature: t=${Date.parse("2026-11-21T00:00:00Z") / 1000},v1=…`)
    expect(words).toContain('"event_type": "outreach.email_sent"')
    expect(text).not.toContain("Show the body")
    expect(document.querySelectorAll("main form[method=post]")).toHaveLength(0)
    expect((await viewer.get("/deliveries/dlv_0")).status).toBe(404)
    expect((await viewer.get(`/deliveries/dlv_${"0".repeat(32)}`)).words).toContain("No delivery")
  })

  it("says in words whether it arrived, and why not", async () => {
    const viewer = await test().as("viewer")
    const wordsOf = async (id: string) => (await viewer.get(`/deliveries/${id}`)).words
    expect(await wordsOf(ours.taken[0]!.id)).toContain("the partner answered 200.")
    const pending = "It has not arrived yet. The partner answers 503: "
    expect(await wordsOf(waiting().id)).toContain(pending)
    expect(await wordsOf(waiting().id)).toMatch(/The next attempt is due in/)
    const rejected =
      "It did not arrive, and is not tried again. The partner answers 410: gone. Such an answer is final."
    expect(await wordsOf(dead().id)).toContain(rejected)
    const other = await test().run(seed)
    await test().run(Effect.flatMap(EndpointRepository, ({ disable }) => disable(other.endpoint.id)))
    const words = await wordsOf(waiting(other).id)
    expect(words).toContain("The endpoint is disabled: Its deliveries wait until it is enabled.")
    expect(words).not.toContain("The next attempt is due")
  })

  it("is shown with its body to an operator who asks, which the audit log records", async () => {
    const operator = await test().as("operator")
    const masked = await operator.get(`/deliveries/${dead().id}`)
    expect(masked.words).toContain("not JSON, 4 characters")
    expect(masked.words).toContain('"token": "(6 characters)"')
    const shown = await operator.post(`/deliveries/${dead().id}/show`)
    expect(shown.words).toContain("gone")
    expect(shown.words).toMatch(/"token": "[0-9A-Za-z]{6}"/)
    expect(shown.words).not.toContain("characters)")
    const [entry] = await test().run(
      Effect.flatMap(AuditLog.make, (log) => log.list({ command: "deliveries show-request" }, 1)),
    )
    expect(entry).toMatchObject({ result: "succeeded", arguments: { delivery: dead().id } })
    expect((await (await test().as("viewer")).post(`/deliveries/${dead().id}/show`)).status).toBe(403)
  })

  it("is tried again now when it waits, and said what it is when it does not", async () => {
    const operator = await test().as("operator")
    const tried = await operator.post(`/deliveries/${waiting(changed).id}/retry`)
    expect(tried.words).toContain("It is due now.")
    const [due] = await test().run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ due: boolean }>`select due_at <= now() as due from deliveries where id = ${waiting(changed).id}`,
      ),
    )
    expect(due).toEqual({ due: true })
    const refused = await operator.post(`/deliveries/${dead(changed).id}/retry`)
    expect(refused.status).toBe(409)
    expect(refused.words).toContain("it is rejected")
  })

  it("is replayed when it is a dead letter, once", async () => {
    const operator = await test().as("operator")
    const page = await operator.get(`/deliveries/${dead(changed).id}`)
    expect(page.document.querySelector("a[href^='/issues/fgr_']")!.textContent).toBe("gone")
    const replayed = await operator.post("/deliveries/replay", { delivery: dead(changed).id })
    expect(replayed.words).toContain("It is delivered again")
    expect(replayed.words).toContain("Replayed as")
    expect((await operator.post("/deliveries/replay", { delivery: dead(changed).id })).status).toBe(409)
  })
})
