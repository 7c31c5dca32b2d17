import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

/** An endpoint with 4 delivered events, 1 that waits for a retry, 2 dead letters, and 1 that waits in the log. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  const { take, settle } = yield* workerOn()
  yield* publishSent(seeded.campaign, 7)
  const taken = (yield* take()).filter(({ endpointId }) => endpointId === seeded.endpoint.id)
  yield* settle(taken.slice(0, 4))
  yield* settle(taken.slice(4, 5), { settlement: "retry", delay: 3600 }, 503)
  yield* settle(taken.slice(5), { settlement: "rejected" }, 410)
  yield* publishSent(seeded.campaign, 1)
  return { ...seeded, taken }
})

let ours: Effect.Success<typeof seed>
/** An endpoint that a test changes, and a disabled one. */
let changed: typeof ours
let disabled: typeof ours
let operator: Visitor
const only = () => `endpoint=${ours.endpoint.id}`
const waiting = ({ taken } = ours): Delivery => taken[4]!
const dead = ({ taken } = ours): Delivery => taken[5]!

beforeAll(async () => {
  changed = await test().run(seed)
  disabled = await test().run(seed)
  await test().run(EndpointRepository.use(({ disable }) => disable(disabled.endpoint.id)))
  // The last one, because each takes what is due of all endpoints.
  ours = await test().run(seed)
  operator = await test().as("operator")
})

const idsIn = (document: Document) =>
  [...document.querySelectorAll("td:first-child a[href^='/deliveries/']")].map(({ textContent }) => textContent)

describe("the list of deliveries", () => {
  it("shows the outcomes of the attempts over time", async () => {
    const { words, document } = await operator.get(`/deliveries?${only()}`)
    expect(words).toContain("Success rate57.1 % of 7 calls")
    expect(words).toContain("Dead letters2")
    expect(document.querySelector("svg[role=img]")!.getAttribute("aria-label")).toBe(
      "Calls by outcome: 4 delivered, 3 4xx, 0 5xx, 0 other status, 0 no response",
    )
    expect(idsIn(document)).toHaveLength(8)
  })

  it("is filtered, and explains invalid filters", async () => {
    const retried = await operator.get(`/deliveries?${only()}&status=503&state=pending&slowest=yes`)
    expect(idsIn(retried.document)).toEqual([waiting().id])
    expect(retried.words).toContain("12 ms")
    const { words } = await operator.get("/deliveries?state=lost&status=7&from=yesterday&slower-than=fast")
    for (const name of ["State", "Status", "Created from", "Slower than"])
      expect(words).toContain(`${name} is not valid.`)
  })

  it("returns 404 with a message for an unknown id in a filter, instead of an empty list", async () => {
    const [endpoint, program] = [`whe_${"0".repeat(32)}`, `pgm_${"0".repeat(32)}`]
    const lists = ["/deliveries", "/issues", "/dead-letters", "/dead-letters/replay"]
    for (const address of [...lists.map((path) => `${path}?endpoint=${endpoint}`), `/numbers?program=${program}`]) {
      const { status, words } = await operator.get(address)
      const id = address.split("=")[1]!
      expect({ address, status, says: words.includes(`Nothing has the id ${id}.`) }).toEqual({
        ...{ address, status: 404, says: true },
      })
    }
  })
})

it("the list of dead letters is narrowed by chips for the status, downloaded, and replayed as shown", async () => {
  const { document } = await operator.get(`/dead-letters?${only()}`)
  const hrefOf = (selector: string, text: string) =>
    [...document.querySelectorAll(selector)].find(({ textContent }) => textContent === text)!.getAttribute("href")!
  expect(idsIn((await operator.get(hrefOf(".chips a", "410: 2"))).document)).toHaveLength(2)
  expect((await operator.get(hrefOf("main a", "Download as CSV"))).text).toContain(dead().id)
  const replay = await operator.get(hrefOf("main a", "Replay this selection…"))
  expect(replay.words).toContain("How many2 dead letters, each from attempt 1")
  expect(replay.words).toContain(`ops dead-letters replay --endpoint ${ours.endpoint.id}`)
})

describe("a delivery", () => {
  it("shows its attempts, its request and its next attempt", async () => {
    const { words } = await operator.get(`/deliveries/${waiting().id}`)
    expect(words).toContain("Attempts1 of 7")
    expect(words).toMatch(/Next attempt\d{4}-/)
    for (const text of ["503", "12 ms", "POST https://", '"event_type": "outreach.email_sent"']) {
      expect(words).toContain(text)
    }
    expect((await operator.get("/deliveries/dlv_0")).status).toBe(404)
    expect((await operator.get(`/deliveries/dlv_${"0".repeat(32)}`)).words).toContain("No delivery")
  })

  it("distinguishes a response without text from one that was erased", async () => {
    const { id } = waiting(changed)
    for (const [response, text] of [
      ["", "no text"],
      [null, "erased"],
    ]) {
      const change = SqlClient.SqlClient.use(
        (sql) => sql`update delivery_attempts set response = ${response} where delivery_id = ${id}`,
      )
      await test().run(change)
      const { document } = await operator.get(`/deliveries/${id}`)
      expect([...document.querySelectorAll("td")].some(({ textContent }) => textContent === text)).toBe(true)
    }
  })

  it("explains whether it arrived, and why not", async () => {
    const wordsOf = async (id: string) => (await operator.get(`/deliveries/${id}`)).words
    expect(await wordsOf(ours.taken[0]!.id)).toContain("the endpoint returned 200.")
    const pending = await wordsOf(waiting().id)
    expect(pending).toContain("Not delivered yet. The partner responds with 503: ")
    expect(pending).toMatch(/The next attempt is due at [-0-9]+ [:0-9]+ in \d/)
    const rejected =
      "Not delivered, without further retries. The partner responds with 410: gone. This response isn't retried."
    expect(await wordsOf(dead().id)).toContain(rejected)
    const words = await wordsOf(waiting(disabled).id)
    expect(words).toContain("The endpoint is disabled: Its deliveries are queued until it is enabled.")
    expect(words).not.toContain("The next attempt is due")
  })

  it("masks its body and the response until they are shown", async () => {
    const masked = await operator.get(`/deliveries/${dead().id}`)
    expect(masked.words).toContain("not JSON, 4 characters")
    expect(masked.words).toContain('"token": "(6 characters)"')
    const shown = await operator.post(`/deliveries/${dead().id}/show`, { reveal: "true" })
    expect(shown.words).toMatch(/"token": "[0-9A-Za-z]{6}"/)
    expect(shown.words).not.toContain("characters)")
  })

  it("links a dead letter to its issue", async () => {
    const { document } = await operator.get(`/deliveries/${dead().id}`)
    expect(document.querySelector("a[href^='/issues/fgr_']")!.textContent).toBe("gone")
  })
})
