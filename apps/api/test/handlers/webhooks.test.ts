import { eventExamples } from "@outreach/contract"
import { removeEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { column, sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { Redacted } from "effect"
import Stripe from "stripe"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { eventText } from "../postWebhook.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, type Seeded, startApi } from "../startApi.ts"

const api = startApi()
let seed: Seeded
let secret: string
beforeAll(async () => {
  seed = await api().seed(0)
  secret = Redacted.value(seed.secret)
})

const EXAMPLE = eventExamples["clinician.account_created"]
let events = 0
const newId = () => `evt_${(++events).toString(16).padStart(32, "0")}`

/** Returns the stored bodies of events. */
const stored = (...eventIds: ReadonlyArray<string>) =>
  api().run(column<string>`select body from inbox where event_id = any(${eventIds}) order by event_id`)

/** Signs with Stripe's library, as partners do. */
const sign = (payload: string, by = secret) => Stripe.webhooks.generateTestHeaderString({ payload, secret: by })

const post = (
  body: string,
  header: string | undefined,
  to: string = seed.endpoint.id,
  type = "application/json",
): Promise<Answer> => {
  const headers = { "Content-Type": type, ...(header !== undefined && { "X-Signature": header }) }
  return ask(api(), `/v1/partners/consumer/webhooks/${to}`, { method: "POST", headers, body })
}
const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

describe("a signed event", () => {
  it.each([
    { type: "clinician.account_created", data: EXAMPLE.data, npi: EXAMPLE.data.npi, contentType: "application/json" },
    { type: "clinician.retired", data: { npi: 7, any: ["thing"] }, npi: null, contentType: "text/plain" },
  ])("is stored as it was signed, and acknowledged: $type", async ({ type, data, npi, contentType }) => {
    const event_id = newId()
    const text = `  ${JSON.stringify({ ...EXAMPLE, event_id, event_type: type, data }, null, 2)}\n`
    const { status, body } = await post(text, sign(text), seed.endpoint.id, contentType)
    expect([status, body]).toEqual([200, { received: true }])
    const rows = await api().run(sql`
      select inbox.organization_id, type, npi, body, secret.organization_id as signed_by
      from inbox join signing_secrets secret on secret.id = secret_id where event_id = ${event_id}`)
    const { id } = seed.organization
    expect(rows).toEqual([{ organization_id: id, type, npi, body: text, signed_by: id }])
  })

  it("is stored once, and the first wins over another event under its id, which is logged", async () => {
    const event_id = newId()
    const [first, other] = [eventText({ event_id }), eventText({ event_id, metadata: { again: true } })]
    for (const text of [first, first, other]) expect((await post(text, sign(text))).status).toBe(200)
    expect(await stored(event_id)).toEqual([first])
    const isLogged = () => api().log.text.includes("with another body") && api().log.text.includes(event_id)
    await until(api().log, isLogged)
    expect(api().log.text).not.toContain(EXAMPLE.data.email)
  })
})

it("a request that the endpoint's organization didn't sign is rejected with 401 and not stored, with a missing, malformed or foreign signature", async () => {
  const event_id = newId()
  const text = eventText({ event_id })
  const other = await api().seed(0)
  const removed = await api().seed(0)
  await api().run(removeEndpoint(removed.endpoint.id))
  const headers = [undefined, "", "nonsense", `t=${Date.now()}`, sign(text, Redacted.value(other.secret))]
  for (const header of headers) expect(codeOf(await post(text, header))).toEqual([401, "INVALID_SIGNATURE"])
  for (const [endpointId, by] of [
    [other.endpoint.id, secret],
    ["whe_0199", secret],
    [removed.endpoint.id, Redacted.value(removed.secret)],
  ] as const) {
    expect(codeOf(await post(text, sign(text, by), endpointId))).toEqual([401, "INVALID_SIGNATURE"])
  }
  expect(await stored(event_id)).toEqual([])
})

it.each([
  ["its statement is cancelled, as one that takes too long is", "pg_cancel_backend"],
  ["its connection breaks", "pg_terminate_backend"],
])("asks for another attempt when %s, has stored nothing, and then stores it once", async (_what, trouble) => {
  const event_id = newId()
  const text = eventText({ event_id })
  const answer = await api().whileLocked("inbox", async () => {
    const answer = post(text, sign(text))
    await eventually(
      () =>
        api().run(sql`
          select ${sql.literal(trouble)}(pid) from pg_stat_activity
          where application_name like 'outreach-api/%' and wait_event_type = 'Lock' and datname = current_database()`),
      ({ length }) => length > 0,
    )
    return await answer
  })
  expect([...codeOf(answer), answer.body.error.details]).toEqual([503, "SERVICE_UNAVAILABLE", { retry_after: 5 }])
  expect(await stored(event_id)).toEqual([])
  expect((await post(text, sign(text))).status).toBe(200)
  expect(await stored(event_id)).toEqual([text])
})

it("the number of rejected signatures is stored at the latest when the API stops, without the content", async () => {
  const { endpoint } = await api().seed(0)
  const { stop, ...stopped } = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
  for (const headers of [{}, {}, { "X-Signature": sign("forged") }]) {
    const sent = { method: "POST", headers, body: "npi 1234567893" }
    expect((await ask(stopped, `/v1/partners/consumer/webhooks/${endpoint.id}`, sent)).status).toBe(401)
  }
  await stop()
  const rows = sql`select reason, count from signature_rejections where endpoint_id = ${endpoint.id} order by reason`
  expect(await api().run(rows)).toEqual([
    { reason: "missing_header", count: 2 },
    { reason: "no_match", count: 1 },
  ])
})
