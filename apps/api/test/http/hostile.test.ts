import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { SCOPES } from "@outreach/contract"
import type { KeyId } from "@outreach/domain/Identifier"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, checkAnswer } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
let key: { id: KeyId; text: string }
beforeAll(async () => {
  const { organization } = await api().seed(1)
  key = await api().issue(organization.id, SCOPES)
})

const TOKENS = "/v1/partners/consumer/tokens"

/** Sends raw bytes, and reads the response until the server closes. */
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
    [`${TOKENS}/abc#def`, 400],
    [`${TOKENS}/../../../health`, 404],
    ["*", 404],
    ["//elsewhere.test/v1/health", 404],
    ["http://elsewhere.test", 404],
    ["http://elsewhere.test/v1/health", 200],
    [`${TOKENS}?${Array.from({ length: 1200 }, (_, i) => `p${i}`).join("&")}`, 400],
    [`${TOKENS}?since=2026-01-01T00:00:00Z&cursor=${"A".repeat(9000)}`, 400],
    [`${TOKENS}?since=9999-12-31T23:59:59.999999Z`, 200],
    [`${TOKENS}?${"&".repeat(9000)}`, 400],
    [`${TOKENS}?${"expand[]=campaign&".repeat(300)}since=2026-01-01T00:00:00Z`, 200],
  ])("answers %.100s in the contract's own words", async (target, status) => {
    await api().setCount(key.id, 0)
    const answer = await get(target)
    expect(answer.status).toBe(status)
    if (!target.includes("..") && !target.startsWith("http")) checkAnswer(answer, "GET", target)
  })
})

describe("the handling of malformed requests", () => {
  it.each([
    ["a query of 64 KiB", `GET ${TOKENS}?a=${"x".repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["a header of 64 KiB", `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ${"x".repeat(65_536)}\r\n\r\n`],
    ["thousands of headers", `GET /v1/health HTTP/1.1\r\nHost: x\r\n${"X-A: b\r\n".repeat(5000)}\r\n`],
    ["no HTTP at all", "hello\r\n\r\n"],
    ["an unknown method", "BREW /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a version to come", "GET /v1/health HTTP/1.2\r\nHost: x\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a target with a space", "GET /v1/ health HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a target without a slash", "GET v1/health HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a folded header", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n"],
    ["a space before a colon", "GET /v1/health HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["a bare CR in a header", "GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: b\rX-B: c\r\n\r\n"],
    ["bare LFs", "GET /v1/health HTTP/1.1\nHost: x\n\n"],
    ["a negative length", "POST /v1/surveys HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
    ["a length past 64 bits", `POST /v1/surveys HTTP/1.1\r\nHost: x\r\nContent-Length: ${"9".repeat(20)}\r\n\r\n{}`],
    [
      "chunks that are something else in the end",
      "POST /v1/surveys HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    ],
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

  it("returns no body for a malformed HEAD request", async () => {
    const answer = await sendRaw("HEAD /v1/ health HTTP/1.1\r\nHost: x\r\n\r\n")
    expect([answer.status, answer.body]).toEqual([400, null])
  })

  it("returns an envelope if the Host header is missing or repeated", async () => {
    const refusal = async (bytes: string) => {
      const { status, body } = await sendRaw(bytes)
      return [status, body.error.code, body.error.details]
    }
    const missing = [400, "MISSING_PARAMETER", { parameter: "Host" }]
    expect(await refusal("GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n")).toEqual(missing)
    expect(await refusal("GET /v1/health\r\n\r\n")).toEqual(missing)
    const twice = [400, "INVALID_PARAMETER", { parameter: "Host" }]
    for (const version of ["1.1", "1.0"]) {
      const bytes = `GET /v1/health HTTP/${version}\r\nHost: x\r\nhost: x\r\nConnection: close\r\n\r\n`
      expect(await refusal(bytes)).toEqual(twice)
    }
    expect((await sendRaw("GET /v1/health HTTP/1.0\r\n\r\n")).status).toBe(200)
  })

  it("rejects two Authorization headers, because a proxy may have checked the other one", async () => {
    const { status, body } = await get("/v1/partners/consumer/tokens", ["authorization: Bearer another"])
    expect([status, body.error.code, body.error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "Authorization" },
    ])
  })

  it.each(["websocket", "h2c"])("ignores an upgrade to %s and an unknown expectation, and closes", async (protocol) => {
    const ignored = await get("/v1/health", ["Expect: a-miracle"])
    expect(ignored.status).toBe(200)
    const head = `GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
    const answer = await sendRaw(head)
    expect([answer.status, answer.headers.get("Connection")]).toEqual([200, "close"])
    checkAnswer(answer, "GET", "/v1/health")
  })

  it.each([
    ["with its length", "Content-Length: 48\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: smuggled.test\r\n\r\n"],
    [
      "in chunks",
      "Transfer-Encoding: chunked\r\n\r\n30\r\nGET /v1/health HTTP/1.1\r\nHost: smuggled.test\r\n\r\n\r\n0\r\n\r\n",
    ],
  ])("takes a body on GET, %s, for no second request", async (_how, bytes) => {
    const socket = connect({ port: Number(new URL(api().url).port), host: "127.0.0.1" })
    socket.write(`GET /v1/health HTTP/1.1\r\nHost: x\r\n${bytes}`)
    socket.write("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    const answers = await text(socket)
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400", "HTTP/1.1 404"])
    expect(answers).toContain('"body: the operation takes none"')
  })

  it("returns an envelope for an incomplete request if the client still reads", async () => {
    const webhook = "POST /v1/partners/consumer/webhooks/whe_0 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}"
    for (const bytes of ["GET /v1/hea", "GET /v1/health HTTP/1.1\r\nHost: x\r\n", webhook]) {
      const socket = connect({ port: Number(new URL(api().url).port), host: "127.0.0.1" })
      socket.end(bytes)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*"code":"INVALID_PARAMETER"/s)
    }
  })
})
