import { Agent } from "node:http"
import { connect } from "node:net"
import { text as textOf } from "node:stream/consumers"
import { eventExamples } from "@outreach/contract"
import { sign } from "@outreach/signature/node"
import { sql } from "@outreach/testing/sql"
import { Redacted } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { startApi } from "../startApi.ts"
import { complaintAbout } from "./complaintAbout.ts"
import { documented } from "./document.ts"
import { signedBody } from "./signedBody.ts"

const MEBIBYTE = 1_048_576
const EXAMPLE = eventExamples["clinician.account_created"]
const { schema } = documented.find(({ operationId }) => operationId === "receiveWebhook")!.requestBody!.content[
  "application/json"
]

const api = startApi()
const agent = new Agent({ keepAlive: true })
let path: string
let secret: string
beforeAll(async () => {
  const seed = await api().seed(0)
  path = `/v1/partners/consumer/webhooks/${seed.endpoint.id}`
  secret = Redacted.value(seed.secret)
})
afterAll(() => agent.destroy())

const empty = () => api().run(sql`with keys as (delete from inbox_keys) delete from inbox`)
beforeEach(empty)
const stored = () =>
  api().run(
    sql<{
      event_id: string
      type: string
      npi: string | null
      body: string
    }>`select event_id, type, npi, body from inbox`,
  )

const signed = (body: Uint8Array) => sign(body, [secret], { timestamp: Math.floor(Date.now() / 1000) })

/** Posts signed bytes, with their length, or in chunks that end at `cuts`. */
const post = (body: Uint8Array, cuts?: ReadonlyArray<number>): Promise<Answer> => {
  const ends = [0, ...(cuts ?? []).map((cut) => cut % (body.length + 1)), body.length].sort((a, b) => a - b)
  const chunks = ends.slice(1).map((end, i) => body.subarray(ends[i], end))
  return ask(api(), path, {
    agent,
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Signature": signed(body),
      ...(cuts !== undefined && { "Transfer-Encoding": "chunked" }),
    },
    body: cuts === undefined ? body : chunks.filter(({ length }) => length > 0),
    signal: AbortSignal.timeout(100_000),
  })
}

/** The row of an event, if the document accepts the body; none otherwise. */
const rowsOf = (body: Uint8Array): Awaited<ReturnType<typeof stored>> => {
  try {
    // Removes a byte order mark.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body)
    const event = JSON.parse(text)
    if (complaintAbout(schema, event) !== undefined) return []
    const npi = Object.hasOwn(event.data, "npi") ? event.data.npi : null
    const named = typeof npi === "string" && /^\d{10}$/.test(npi) ? npi : null
    return [{ event_id: event.event_id, type: event.event_type, npi: named, body: text }]
  } catch {
    return []
  }
}

it("a signed body is stored unchanged if the document defines it as an event, and rejected otherwise", {
  timeout: 0,
}, async () => {
  const cuts = fc.option(fc.array(fc.nat(), { maxLength: 5 }), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(signedBody(schema), cuts, async (body, cuts) => {
      await empty()
      const large = body.length > MEBIBYTE
      const rows = large ? [] : rowsOf(body)
      const { status, body: answer } = await post(body, cuts)
      expect(status, JSON.stringify(answer)).toBe(rows.length > 0 ? 200 : large ? 413 : 400)
      expect(await stored()).toEqual(rows)
    }),
    { examples: [[Buffer.from(JSON.stringify(EXAMPLE)), [7]]] },
  )
})

describe("a body at its bound", () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify({ ...EXAMPLE, metadata: { pad: "" } })
    return Buffer.from(text.replace('"pad":""', `"pad":"${"x".repeat(bytes - text.length)}"`))
  }
  const quarters = [1, 2, 3].map((n) => (n * MEBIBYTE) / 4)

  it.each([
    ["with its length", undefined],
    ["in chunks", quarters],
  ])("of 1 MiB is stored whole, and one byte more is refused as 413, %s", async (_how, cuts) => {
    const whole = padded(MEBIBYTE)
    const answer = await post(whole, cuts)
    expect([answer.status, answer.headers.get("Connection")]).toEqual([200, "keep-alive"])
    expect((await stored()).map(({ body }) => body === whole.toString())).toEqual([true])
    await empty()
    const { status, headers, body } = await post(padded(MEBIBYTE + 1), cuts)
    expect([status, body.error.code, body.error.details]).toEqual([413, "PAYLOAD_TOO_LARGE", { max_bytes: MEBIBYTE }])
    // The unread rest would precede the next request.
    expect(headers.get("Connection")).toBe("close")
    expect(await stored()).toEqual([])
  })
})

describe("a body with a wrong length, or sent slowly", () => {
  const EVENT = Buffer.from(JSON.stringify(EXAMPLE))
  const head = (length: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Signature: ${signed(EVENT)}\r\n${length}\r\n\r\n`
  const open = () => connect({ port: Number(new URL(api().url).port), host: "127.0.0.1", allowHalfOpen: true })
  const send = (...parts: ReadonlyArray<string | Uint8Array>) => {
    const socket = open()
    for (const part of parts) socket.write(part)
    socket.end()
    return textOf(socket)
  }
  const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d+/g)

  it.each([
    ["shorter", `Content-Length: ${EVENT.length + 1}`, [EVENT]],
    ["in a chunk cut short", "Transfer-Encoding: chunked", [`${(EVENT.length + 1).toString(16)}\r\n`, EVENT]],
    ["without its last chunk", "Transfer-Encoding: chunked", [`${EVENT.length.toString(16)}\r\n`, EVENT, "\r\n"]],
    ["in a chunk of no length", "Transfer-Encoding: chunked", ["xyz\r\n", EVENT, "\r\n0\r\n\r\n"]],
    ["in a chunk longer than it says", "Transfer-Encoding: chunked", ["1\r\n", EVENT, "\r\n0\r\n\r\n"]],
  ])("is refused as 400 and not stored: %s", async (_how, length, parts) => {
    const answers = await send(head(length), ...parts)
    expect(statuses(answers)).toEqual(["400"])
    expect(answers).toContain('"code":"INVALID_PARAMETER"')
    expect(await stored()).toEqual([])
  })

  it("is not stored if it is longer, and the remaining bytes are not a request", async () => {
    const answers = await send(head(`Content-Length: ${EVENT.length - 1}`), EVENT)
    expect(statuses(answers)!.at(-1)).toBe("400")
    expect(await stored()).toEqual([])
  })

  it("is stored when it comes byte by byte, and keeps no other waiting", async () => {
    const slow = open()
    slow.setNoDelay(true).write(head(`Connection: close\r\nContent-Length: ${EVENT.length}`))
    for (const byte of EVENT.subarray(0, -1)) {
      await new Promise((sent) => slow.write(Uint8Array.of(byte), sent))
    }
    expect((await post(Buffer.from(JSON.stringify({ ...EXAMPLE, event_id: "evt_b" })))).status).toBe(200)
    expect(await stored()).toHaveLength(1)
    slow.write(EVENT.subarray(-1))
    expect(statuses(await textOf(slow))).toEqual(["200"])
    expect(await stored()).toHaveLength(2)
  })
})

it("leaves a process that still serves, with no received data in its log", async () => {
  expect((await ask(api(), "/v1/health")).status).toBe(200)
  for (const told of [EXAMPLE.data.email, EXAMPLE.data.npi, secret, "v1="]) expect(api().log.text).not.toContain(told)
})
