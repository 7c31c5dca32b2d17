import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { SCOPES } from "@outreach/contract"
import { seedCampaign } from "@outreach/postgres/test/seedCampaign"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, ask, checkAnswer } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
let key: { id: `key_${string}`; text: string }
beforeAll(async () => {
  const { organization } = await api().run(seedCampaign({ recipients: 1 }))
  key = await api().issue(organization.id, SCOPES)
})

const TOKENS = "/v1/partners/consumer/tokens"

/** Sends bytes as they are, and reads what comes back until the server closes. */
async function sendRaw(bytes: string | Buffer): Promise<Answer> {
  const socket = connect({ port: Number(new URL(api().url).port), host: "127.0.0.1" })
  // The server may close before it has read everything.
  socket.on("error", () => {})
  socket.write(bytes)
  const [head = "", body = ""] = (await text(socket)).split(/\r\n\r\n(.*)/s)
  const [line, ...fields] = head.split("\r\n")
  const headers = new Headers(fields.map((field) => field.split(": ", 2) as [string, string]))
  return { status: Number(line!.split(" ")[1]), headers, body: body === "" ? null : JSON.parse(body) }
}
const get = (target: string, fields: ReadonlyArray<string> = []) =>
  sendRaw(
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.text}\r\nConnection: close\r\n${fields.map((f) => `${f}\r\n`).join("")}\r\n`,
  )

describe("hostile targets", () => {
  it.each([
    [`${TOKENS}/%00`, 400],
    [`${TOKENS}/abc12%00`, 400],
    [`${TOKENS}/%ZZ`, 400],
    [`${TOKENS}/%`, 400],
    [`${TOKENS}/abc12%`, 400],
    [`${TOKENS}/%ED%A0%80`, 400],
    [`${TOKENS}/%FF%FE`, 400],
    [`${TOKENS}/%C0%AF`, 400],
    [`${TOKENS}/__proto__`, 400],
    [`${TOKENS}/abc;def`, 400],
    [`${TOKENS}/abc%3Fdef`, 400],
    [`${TOKENS}/..%2F..%2Fhealth`, 400],
    [`${TOKENS}/../../../health`, 404],
    ["/%76%31/nowhere%", 404],
    ["/v1/constructor", 404],
    ["/__proto__", 404],
    ["*", 404],
    [`${TOKENS}?__proto__=1`, 400],
    [`${TOKENS}?constructor=1&hasOwnProperty=2`, 400],
    [`${TOKENS}?since=%00`, 400],
    [`${TOKENS}?since=%ED%A0%80`, 400],
    [`${TOKENS}?since=%`, 400],
    [`${TOKENS}?since=2026-01-01T00:00:00Z&cursor=%00%00`, 400],
    [`${TOKENS}?since=2026-01-01T00:00:00Z&cursor=${"A".repeat(9000)}`, 400],
    [`${TOKENS}?since=0000-01-01T00:00:00Z`, 400],
    [`${TOKENS}?since=0001-01-01T00:00:00Z`, 200],
    [`${TOKENS}?since=9999-12-31T23:59:59.999999Z`, 200],
    [`${TOKENS}?since=9999-12-31T23:59:59-23:59`, 400],
    [`${TOKENS}?since=2026-02-30T00:00:00Z`, 400],
    [`${TOKENS}?${"&".repeat(9000)}`, 400],
    [`${TOKENS}?${"expand[]=campaign&".repeat(300)}since=2026-01-01T00:00:00Z`, 200],
    ["/v1/health?__proto__=1", 400],
    ["http://elsewhere.test/v1/health", 200],
  ])("answers %.100s in the contract's own words", async (target, status) => {
    await api().setCount(key.id, 0)
    const answer = await get(target)
    expect(answer.status).toBe(status)
    if (!target.includes("..") && !target.startsWith("http")) checkAnswer(answer, "GET", target)
  })

  it("answers any query and any path below 500, in its envelope", async () => {
    // What fetch would normalise away is sent by hand above; here the text itself is anything at all.
    const part = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom(
        "since",
        "limit",
        "cursor",
        "expand[]",
        "2026-01-01T00:00:00Z",
        "campaign",
        "__proto__",
        "1",
        "\ud800",
        "\0",
      ),
    )
    const encoded = part.map((text) => encodeURI(Buffer.from(text).toString()).replaceAll(/[#?&/]/g, "%26"))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(encoded, encoded), { maxLength: 4 }), encoded, async (pairs, token) => {
        await api().setCount(key.id, 0)
        const query = pairs.map((pair) => pair.join("=")).join("&")
        for (const target of [`${TOKENS}?${query}`, `${TOKENS}/x${token}?${query}`]) {
          expect((await ask(api(), target, { key: key.text })).status).toBeLessThan(500)
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe("what is no request", () => {
  it.each([
    ["a query of 64 KiB", `GET ${TOKENS}?a=${"x".repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["a header of 64 KiB", `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ${"x".repeat(65_536)}\r\n\r\n`],
    ["no HTTP at all", "hello\r\n\r\n"],
    ["an unknown method", "BREW /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["raw bytes in the target", Buffer.from("GET /v1/\0\xff HTTP/1.1\r\nHost: x\r\n\r\n", "latin1")],
    ["two lengths", "POST /v1/surveys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    [
      "a length beside chunks",
      "POST /v1/surveys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a tunnel", "CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["TLS", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x0d, 0x0a])],
  ])("answers %s with an envelope", async (_what, bytes) => {
    const answer = await sendRaw(bytes)
    expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "request" },
    ])
    expect(Buffer.byteLength(JSON.stringify(answer.body))).toBe(Number(answer.headers.get("Content-Length")))
    checkAnswer(answer, "GET", "*")
  })

  it("answers a request without a Host with an envelope", async () => {
    const answer = await sendRaw("GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n")
    expect([answer.status, answer.body.error.code]).toEqual([400, "MISSING_PARAMETER"])
    expect((await sendRaw("GET /v1/health HTTP/1.0\r\n\r\n")).status).toBe(200)
  })

  it("answers an expectation and an upgrade that it does not know as if they were not there", async () => {
    for (const field of ["Expect: a-miracle", "Upgrade: websocket", "Upgrade: h2c"]) {
      const connection = field.startsWith("Upgrade") ? "Connection: upgrade, close" : "Connection: close"
      const answer = await sendRaw(`GET /v1/health HTTP/1.1\r\nHost: x\r\n${connection}\r\n${field}\r\n\r\n`)
      expect(answer.status).toBe(200)
      checkAnswer(answer, "GET", "/v1/health")
    }
  })

  it("still serves after all of it", async () => {
    expect((await ask(api(), "/v1/health")).status).toBe(200)
  })
})
