import { connect } from "node:net"
import { text as textOf } from "node:stream/consumers"
import { eventExamples } from "@outreach/contract"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import Stripe from "stripe"
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { type Answer, checkAnswer } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
type Seed = Effect.Success<ReturnType<typeof seedCampaign>>
let seed: Seed
let secret: string
beforeAll(async () => {
  seed = await api().run(seedCampaign({ recipients: 0 }))
  secret = Redacted.value(seed.secret)
})
const sql = <Row extends object>(query: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<Row>, unknown>) =>
  api().run(Effect.flatMap(SqlClient.SqlClient, query))
beforeEach(() => sql((sql) => sql`truncate inbox, inbox_keys`))
const stored = () =>
  sql<{ organization_id: string; event_id: string; type: string; npi: string | null; body: string }>(
    (sql) => sql`select organization_id, event_id, type, npi, body from inbox order by received_at, event_id`,
  )

const seconds = () => Math.floor(Date.now() / 1000)
const pathTo = (endpointId: string) => `/v1/partners/consumer/webhooks/${endpointId}`
const EXAMPLE = eventExamples["clinician.account_created"]
let events = 0
const envelope = (more: object = {}) => ({
  ...EXAMPLE,
  event_id: `evt_${(++events).toString(16).padStart(32, "0")}`,
  ...more,
})

/** Signs as partners do who use Stripe's library. */
const sign = (payload: string, options: { readonly secret?: string; readonly timestamp?: number } = {}) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds(), ...options })

const post = async (
  body: string | Uint8Array,
  header: string | undefined,
  to: string = seed.endpoint.id,
  type = "application/json",
): Promise<Answer> => {
  const response = await fetch(api().url + pathTo(to), {
    method: "POST",
    headers: { "Content-Type": type, ...(header !== undefined && { "X-Signature": header }) },
    body: Buffer.from(body),
  })
  const answer = { status: response.status, headers: response.headers, body: await response.json() }
  checkAnswer(answer, "POST", pathTo(to))
  return answer
}
const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

describe("a signed event", () => {
  it("is stored as it was signed, and acknowledged", async () => {
    const event = envelope()
    const text = `  ${JSON.stringify(event, null, 2)}\n`
    const { status, body } = await post(text, sign(text))
    expect([status, body]).toEqual([200, { received: true }])
    expect(await stored()).toEqual([
      {
        organization_id: seed.organization.id,
        event_id: event.event_id,
        type: "clinician.account_created",
        npi: EXAMPLE.data.npi,
        body: text,
      },
    ])
  })

  it("is stored with the secret that verified it", async () => {
    const text = JSON.stringify(envelope())
    await post(text, sign(text))
    const rows = await sql<{ secret_id: string | null; id: string }>(
      (sql) => sql`
        select secret_id, secret.id from inbox join signing_secrets secret using (organization_id)
        order by inbox.received_at desc limit 1`,
    )
    expect(rows).toEqual([{ secret_id: rows[0]!.id, id: expect.stringMatching(/^sec_/) }])
  })

  it.each(["text/plain", "application/x-www-form-urlencoded"])(
    "is judged by its bytes when it comes as %s",
    async (type) => {
      const [event, text] = [JSON.stringify(envelope()), "event=1"]
      expect((await post(event, sign(event), seed.endpoint.id, type)).status).toBe(200)
      expect((await stored()).map(({ body }) => body)).toEqual([event])
      expect(codeOf(await post(text, sign(text), seed.endpoint.id, type))).toEqual([400, "INVALID_PARAMETER"])
    },
  )

  it("is taken with a space after the commas of X-Signature", async () => {
    const text = JSON.stringify(envelope())
    expect((await post(text, sign(text).replaceAll(",", ", "))).status).toBe(200)
  })

  it("is stored and acknowledged whatever its type is", async () => {
    const text = JSON.stringify(envelope({ event_type: "clinician.retired", data: { npi: 7, any: ["thing"] } }))
    expect((await post(text, sign(text))).status).toBe(200)
    expect(await stored()).toMatchObject([{ type: "clinician.retired", npi: null }])
  })

  it("is stored once, and the first wins over another event under its id, which is logged", async () => {
    const event = envelope()
    const [first, other] = [JSON.stringify(event), JSON.stringify({ ...event, metadata: { again: true } })]
    expect((await post(first, sign(first))).status).toBe(200)
    expect((await post(first, sign(first))).status).toBe(200)
    expect((await post(other, sign(other))).status).toBe(200)
    expect((await stored()).map(({ body }) => body)).toEqual([first])
    await vi.waitUntil(
      () => api().logs.some((line) => line.includes("with another body") && line.includes(event.event_id)),
      { timeout: 100_000 },
    )
    expect(api().logs.join("")).not.toContain(EXAMPLE.data.email)
  })

  it("is answered 503 while its organization is frozen, and is stored when it is sent again; others are stored meanwhile", async () => {
    const another = await api().run(seedCampaign({ recipients: 0 }))
    const freeze = (frozenAt: string | null) =>
      sql(
        (sql) =>
          sql`update organizations set frozen_at = ${frozenAt}::timestamptz where id = ${another.organization.id}`,
      )
    const texts = Array.from({ length: 8 }, () => JSON.stringify(envelope()))
    const send = (text: string) =>
      post(text, sign(text, { secret: Redacted.value(another.secret) }), another.endpoint.id)
    expect((await send(texts[0]!)).status).toBe(200)
    await freeze("2026-11-01T00:00:00Z")
    // Together, so that they share a statement.
    const answers = await Promise.all(texts.flatMap((text) => [send(text), post(text, sign(text))]))
    expect(answers.map(codeOf)).toEqual(
      texts.flatMap(() => [
        [503, "SERVICE_UNAVAILABLE"],
        [200, undefined],
      ]),
    )
    expect(await stored()).toHaveLength(1 + texts.length)
    await freeze(null)
    expect((await Promise.all(texts.map(send))).map(({ status }) => status)).toEqual(texts.map(() => 200))
    expect(await stored()).toHaveLength(2 * texts.length)
  })

  it("is taken from Stripe's library whatever its text is, with the signatures of other schemes beside its own", async () => {
    const texts = fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }))
    await fc.assert(
      fc.asyncProperty(texts, async (metadata) => {
        const text = JSON.stringify(envelope({ metadata }))
        const old = Stripe.webhooks.generateTestHeaderString({ payload: text, secret, scheme: "v0" })
        expect((await post(text, `${sign(text)},${old.split(",")[1]}`)).status).toBe(200)
        expect((await stored()).at(-1)?.body).toBe(text)
      }),
    )
  })

  it("may be signed five minutes ago or ahead, and no second more", async () => {
    for (const [away, status] of [
      [-299, 200],
      [299, 200],
      [-301, 401],
      // The clock goes on while it travels.
      [302, 401],
    ] as const) {
      const text = JSON.stringify(envelope())
      expect((await post(text, sign(text, { timestamp: seconds() + away }))).status).toBe(status)
    }
    expect(await stored()).toHaveLength(2)
  })

  it("may be signed with any secret that is active, a new one from its rotation on, an old one until its grace ends", async () => {
    const { organization, endpoint, secret: first } = await api().run(seedCampaign({ recipients: 0 }))
    const sendWith = (key: Redacted.Redacted) => {
      const text = JSON.stringify(envelope())
      return post(text, sign(text, { secret: Redacted.value(key) }), endpoint.id)
    }
    expect((await sendWith(first)).status).toBe(200)
    const second = await api().run(rotateSecret(organization.id, 3600))
    expect([(await sendWith(second)).status, (await sendWith(first)).status]).toEqual([200, 200])
    const third = await api().run(rotateSecret(organization.id, 0))
    expect((await sendWith(third)).status).toBe(200)
    expect([(await sendWith(first)).status, (await sendWith(second)).status]).toEqual([401, 401])
  })
})

describe("what is not signed by the endpoint's organization", () => {
  it("is refused without a header, with a malformed one, with another secret, and nothing is stored", async () => {
    const text = JSON.stringify(envelope())
    const other = await api().run(seedCampaign({ recipients: 0 }))
    const headers = [undefined, "", "nonsense", `t=${seconds()}`, sign(text, { secret: Redacted.value(other.secret) })]
    for (const header of headers) expect(codeOf(await post(text, header))).toEqual([401, "INVALID_SIGNATURE"])
    expect(codeOf(await post(text, sign(text), other.endpoint.id))).toEqual([401, "INVALID_SIGNATURE"])
    expect(codeOf(await post(text, sign(text), "whe_0199"))).toEqual([401, "INVALID_SIGNATURE"])
    expect(await stored()).toEqual([])
  })

  it("is refused with a bit of any byte of its body or its header flipped, and nothing is stored", async () => {
    const text = JSON.stringify(envelope())
    const header = sign(text)
    // The signature's own tests flip every bit.
    const bits = (bytes: string) => Array.from({ length: bytes.length }, (_, byte) => 8 * byte + (byte % 8))
    const ofBody = await all(bits(text), (bit) => post(flip(text, bit), header))
    expect(new Set(ofBody.map(({ status }) => status))).toEqual(new Set([401]))
    // Some of these bytes cannot stand in a header, so they travel as they are, and the server refuses such a request.
    const ofHeader = await all(bits(header), (bit) => postRaw(text, flip(header, bit)))
    expect(new Set(ofHeader)).toEqual(new Set([401, 400]))
    expect(ofHeader.filter((status) => status === 401).length).toBeGreaterThan(ofHeader.length / 2)
    expect(await stored()).toEqual([])
    expect((await post(text, header)).status).toBe(200)
  })

  it("is refused with a bit of a body of a mebibyte flipped, wherever it is", async () => {
    const text = JSON.stringify(envelope({ metadata: { pad: "" } }))
    const large = text.replace('"pad":""', `"pad":"${"x".repeat(1_048_576 - text.length)}"`)
    const header = sign(large)
    const anywhere = fc.oneof(fc.nat(8 * large.length - 1), fc.constantFrom(0, 8 * large.length - 1))
    await fc.assert(
      fc.asyncProperty(anywhere, async (bit) => {
        expect((await post(flip(large, bit), header)).status).toBe(401)
      }),
    )
    expect(await stored()).toEqual([])
    expect((await post(large, header)).status).toBe(200)
  })
})

const flip = (text: string, bit: number): Buffer => {
  const flipped = Buffer.from(text)
  flipped[bit >> 3]! ^= 1 << (bit & 7)
  return flipped
}

/** Asks for each, a few at a time. */
const all = async <Item, Result>(items: ReadonlyArray<Item>, question: (item: Item) => Promise<Result>) => {
  const results: Array<Result> = []
  const left = items.values()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of left) results.push(await question(item))
    }),
  )
  return results
}

/** Posts with a header of any bytes, and answers the status. */
const postRaw = async (body: string, header: Uint8Array): Promise<number> => {
  const socket = connect({ port: Number(new URL(api().url).port), host: "127.0.0.1" })
  // The server may close before it has read everything.
  socket.on("error", () => {})
  socket.write(`POST ${pathTo(seed.endpoint.id)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Signature: `)
  socket.write(header)
  socket.write(`\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  return Number((await textOf(socket)).slice("HTTP/1.1 ".length, "HTTP/1.1 400".length))
}

describe("what is signed and no event", () => {
  it.each([
    ["no JSON", "{", "body"],
    ["nothing", "", "body"],
    ["a list", "[]", "body"],
    ["a text", `"evt_1"`, "body"],
    ["without an id", JSON.stringify({ ...EXAMPLE, event_id: undefined }), "event_id"],
    ["with another kind of id", JSON.stringify({ ...EXAMPLE, event_id: "1" }), "event_id"],
    ["with a version of 0", JSON.stringify({ ...EXAMPLE, event_version: 0 }), "event_version"],
    ["from the service", JSON.stringify({ ...EXAMPLE, source: "service" }), "source"],
    ["without data", JSON.stringify({ ...EXAMPLE, data: null }), "data"],
    ["deeply nested", "[".repeat(200_000), "body"],
    ["deeply nested and closed", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "body"],
  ])("is refused as 400 and not stored: %s", async (_what, text, parameter) => {
    const { status, body } = await post(text, sign(text))
    expect([status, body.error.details]).toEqual([400, { parameter }])
    expect(await stored()).toEqual([])
  })

  it("is refused as 400 when it is not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from(`{"a":"`), Buffer.from([0xff]), Buffer.from(`"}`)])
    const { createHmac } = await import("node:crypto")
    const t = seconds()
    const v1 = createHmac("sha256", secret).update(`${t}.`).update(bytes).digest("hex")
    const { status, body } = await post(bytes, `t=${t},v1=${v1}`)
    expect([status, body.error.details]).toEqual([400, { parameter: "body" }])
  })
})

it.each([
  ["its statement is cancelled, as one that takes too long is", "pg_cancel_backend"],
  ["its connection breaks", "pg_terminate_backend"],
])("asks for another attempt when %s, has stored nothing, and then stores it once", async (_what, trouble) => {
  const text = JSON.stringify(envelope())
  await api().run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const answer = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`lock table inbox`
          const asked = post(text, sign(text))
          yield* Effect.promise(() =>
            vi.waitUntil(
              () =>
                api().run(
                  Effect.map(
                    sql`
                      select ${sql.literal(trouble)}(pid) from pg_stat_activity
                      where application_name like 'outreach-api/%' and wait_event_type = 'Lock' and datname = current_database()`,
                    ({ length }) => length > 0,
                  ),
                ),
              { timeout: 100_000 },
            ),
          )
          return yield* Effect.promise(() => asked)
        }),
      )
      expect(codeOf(answer)).toEqual([503, "SERVICE_UNAVAILABLE"])
      expect(answer.body.error.details).toEqual({ retry_after: 5 })
    }),
  )
  expect(await stored()).toEqual([])
  expect((await post(text, sign(text))).status).toBe(200)
  expect((await stored()).map(({ body }) => body)).toEqual([text])
})
