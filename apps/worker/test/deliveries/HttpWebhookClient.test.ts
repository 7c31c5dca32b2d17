import { readFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer as createTcpServer, type Server, type Socket } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { classifyResponse } from "@outreach/domain/deliveries/settleAttempt"
import { WebhookClient } from "@outreach/domain/deliveries/WebhookClient"
import { OrganizationId } from "@outreach/domain/Identifier"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"
import { SERVFAIL, startNameServer } from "@outreach/testing/startNameServer"
import { NameNotAsked } from "@outreach/webhooks/boundedLookups"
import { HttpWebhookClient } from "@outreach/webhooks/HttpWebhookClient"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Deferred, Effect } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"

const key = readFileSync(new URL("../data/key.pem", import.meta.url))
const cert = readFileSync(new URL("../data/certificate.pem", import.meta.url))
const body = new TextEncoder().encode(`{"event_id":"evt_1"}`)

const organizationId = OrganizationId.make(`org_${"0".repeat(32)}`)

const post = (url: string, options: Partial<Parameters<typeof HttpWebhookClient>[0]> = {}, times = 1) =>
  Effect.gen(function* () {
    const client = yield* WebhookClient
    const once = client.post({ organizationId, url }, { "X-Delivery-Id": "dlv_1" }, body)
    for (let i = 1; i < times; i++) yield* once
    return yield* once
  }).pipe(
    Effect.provide(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 15_000, ...options })),
    Effect.runPromise,
  )

const serve = async (listener: RequestListener) =>
  `http://127.0.0.1:${await listen(createServer(listener))}/webhooks?a=b`
const serveTcp = async (onSocket: (socket: Socket) => void) =>
  `http://127.0.0.1:${await listen(createTcpServer(onSocket))}/`

describe("a request to a partner", () => {
  it("is a POST with the exact bytes, the given headers and who calls", async () => {
    const seen: unknown[] = []
    const url = await serve(async (request, response) => {
      const received = Buffer.concat(await request.toArray()).toString()
      const { host: _, connection: __, ...headers } = request.headers
      seen.push(request.method, request.url, received, headers)
      response.end("thanks")
    })
    expect(await post(url)).toEqual({ status: 200, response: "thanks" })
    expect(seen).toEqual([
      "POST",
      "/webhooks?a=b",
      `{"event_id":"evt_1"}`,
      {
        "x-delivery-id": "dlv_1",
        "user-agent": expect.stringMatching(/^outreach-partner-api\/\d+\.\d+\.\d+/),
        "accept-encoding": "identity",
        "content-length": "20",
      },
    ])
  })

  it("comes over TLS once its certificate is trusted", async () => {
    const trusted = getCACertificates("default")
    onTestFinished(() => setDefaultCACertificates(trusted))
    setDefaultCACertificates([...trusted, cert.toString()])
    const port = await listen(createTlsServer({ key, cert }, (_, response) => response.end("sealed")))
    expect(await post(`https://localhost:${port}/`)).toEqual({ status: 200, response: "sealed" })
  })

  it("comes over kept connections, call after call", async () => {
    const ports = new Set<number | undefined>()
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      response.end("ok")
    })
    await post(url, {}, 20)
    // The next call may start before the last connection is free again.
    expect(ports.size).toBeLessThanOrEqual(2)
  })
})

describe("a response", () => {
  it.each([200, 204, 404, 503])("of status %i is a reply with its text", async (status) => {
    const url = await serve((_, response) => response.writeHead(status).end(status === 204 ? undefined : "why"))
    expect(await post(url)).toEqual({ status, response: status === 204 ? "" : "why" })
  })

  it("that redirects is a reply, and the place it names is never called", async () => {
    let called = 0
    const elsewhere = await serve((_, response) => {
      called += 1
      response.end()
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await serve((_, response) => response.writeHead(status, { location: elsewhere }).end("moved"))
      expect(await post(url)).toEqual({ status, response: "moved" })
    }
    expect(called).toBe(0)
  })

  it("is kept up to 4 KiB, and counts by its status though it never ends", async () => {
    const url = await serve((_, response) => {
      const pour = () => {
        while (!response.destroyed && response.write("x".repeat(1000))) {}
      }
      response.on("drain", pour)
      pour()
    })
    expect(await post(url)).toEqual({ status: 200, response: "x".repeat(4096) })
  })

  it.each([
    ["never comes", "Content-Length: 100\r\n\r\n", ""],
    ["never ends", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "abc"],
    ["has no length and never ends", "\r\nabc", "abc"],
  ])("counts by its status though its body %s, and what came is kept", async (_, rest, response) => {
    const url = await serveTcp((socket) => socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`)))
    expect(await post(url, { bodyMs: 100 })).toEqual({ status: 200, response })
  })

  it("counts by its status when the whole call's deadline comes before its body's", async () => {
    const url = await serve((_, response) => response.writeHead(200).flushHeaders())
    expect(await post(url, { callMs: 2000, bodyMs: 600_000 })).toEqual({ status: 200, response: "" })
  })

  it("counts by its status though its body trickles on", async () => {
    const url = await serve((_, response) => {
      const timer = setInterval(() => response.write("."), 10)
      response.on("close", () => clearInterval(timer))
    })
    expect(await post(url, { bodyMs: 100 })).toEqual({ status: 200, response: expect.stringMatching(/^\.*$/) })
  })

  it.each([
    ["breaks off", "Content-Length: 100\r\n\r\nabc", "abc"],
    ["breaks off inside a chunk", "Transfer-Encoding: chunked\r\n\r\n64\r\nabc", "abc"],
    ["goes on with a malformed chunk", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nno chunk\r\n", "abc"],
    ["is malformed from its first chunk on", "Transfer-Encoding: chunked\r\n\r\nno chunk\r\n", ""],
  ])("counts by its status though its body %s, and what came is kept", async (_, rest, response) => {
    for (const status of [200, 500]) {
      const url = await serveTcp((socket) =>
        socket.once("data", () => socket.end(`HTTP/1.1 ${status} Said\r\n${rest}`)),
      )
      expect(await post(url)).toEqual({ status, response })
    }
  })

  it.each([
    ["seconds", { "Retry-After": "120" }, 120_000],
    [
      "a date, from the response's own",
      { "Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", Date: "Fri, 31 Dec 1999 23:58:59 GMT" },
      60_000,
    ],
    ["the first of several", { "Retry-After": ["7", "9"] }, 7000],
    ["not there", {}, undefined],
  ])("of 4xx or 5xx says in Retry-After how long to wait: %s", async (_, headers, retryAfterMs) => {
    for (const status of [429, 503]) {
      const url = await serve((_, response) => response.writeHead(status, headers).end())
      expect(await post(url)).toEqual({ status, response: "", retryAfterMs })
    }
    const url = await serve((_, response) => response.writeHead(302, headers).end())
    expect(await post(url)).toEqual({ status: 302, response: "" })
  })

  it("is converted to text that the database can store, for any bytes", async () => {
    const url = await serve((_, response) => response.end(Buffer.from([0x61, 0x00, 0xff, 0x62])))
    expect(await post(url)).toEqual({ status: 200, response: "a\uFFFDb" })
  })

  it("may be announced by 1xx", async () => {
    const url = await serve((_, response) => {
      response.writeProcessing()
      response.writeHead(202).end("later")
    })
    expect(await post(url)).toEqual({ status: 202, response: "later" })
  })
})

describe("no response", () => {
  const afterRequest = (act: (socket: Socket) => void) => serveTcp((socket) => socket.once("data", () => act(socket)))
  const overTls = async (server: Server) => `https://127.0.0.1:${await listen(server)}/`
  const untrusted = () => createTlsServer({ key, cert }, (_, response) => response.end())
  const failing = async (url: string, options?: Parameters<typeof post>[1]) => {
    const reply = await post(url, options)
    if ("error" in reply) expect(classifyResponse(reply)).toEqual({ verdict: "transient", reason: reply.error })
    return reply
  }

  it.each([
    ["refused", "the port is closed", async () => `http://${CLOSED_ADDRESS}/`, {}],
    ["reset", "the connection breaks before the headers", () => afterRequest((it) => it.resetAndDestroy()), {}],
    ["reset", "it ends inside the headers", () => afterRequest((it) => it.end("HTTP/1.1 200 OK\r\nCont")), {}],
    ["unknown", "the other side does not speak HTTP", () => afterRequest((it) => it.end("220 hello\r\n")), {}],
    ["tls", "the certificate isn't trusted", async () => `https://localhost:${await listen(untrusted())}/`, {}],
    ["tls", "the server doesn't use TLS", () => overTls(createServer((_, response) => response.end())), {}],
    // A TLS handshake without an answer is part of connecting.
    ["connect_timeout", "the connection does not come about", () => overTls(createTcpServer()), { connectMs: 100 }],
    ["deadline", "no connection is established in time", () => overTls(createTcpServer()), { callMs: 100 }],
    ["headers_timeout", "the server sends no response", () => serveTcp(() => {}), { callMs: 200 }],
  ])("is %s when %s", async (error, _, start, options) => {
    expect(await failing(await start(), options)).toEqual({ error })
  })

  it("is unresolved_name when the name does not resolve, with the name server's response", async () => {
    const failure = { error: "unresolved_name", response: "SERVFAIL" }
    const names = await namesOf({})
    expect(await failing("http://partner.test/", { names })).toEqual(failure)
    expect(await failing("https://other.test/", { names, allowPrivateAddresses: false })).toEqual(failure)
  })

  it("is name_not_asked when the name has no turn", async () => {
    const names = () => Promise.reject(new NameNotAsked())
    expect(await failing("http://partner.test/", { names })).toEqual({ error: "name_not_asked" })
  })

  it("ends the connection of a call that was cut off", async () => {
    const closed = Deferred.makeUnsafe<void>()
    const url = await serveTcp((socket) => {
      socket.resume().on("close", () => Deferred.doneUnsafe(closed, Effect.void))
    })
    await Effect.gen(function* () {
      const client = yield* WebhookClient
      expect(yield* client.post({ organizationId, url }, {}, body)).toEqual({ error: "headers_timeout" })
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 200 })), Effect.runPromise)
  })
})

/** Names for which a name server returns one address each. */
const namesOf = async (known: Readonly<Record<string, string>>) => {
  const { address } = await startNameServer((name, type) => {
    const data = known[name]
    if (data === undefined) return { code: SERVFAIL }
    return { records: type === "A" ? [{ name, type, data }] : [] }
  })
  return partnerNames([address])
}

describe("a private address", () => {
  it("is never connected to, by name or in any spelling", async () => {
    let connections = 0
    const port = await listen(
      createTcpServer(() => {
        connections += 1
      }),
    )
    const names = await namesOf({ "hooks.test": "127.0.0.1" })
    const hosts = [
      ...["hooks.test", "127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::1]", "[::ffff:127.0.0.1]"],
      "localhost",
    ]
    for (const host of hosts) {
      expect(await post(`https://${host}:${port}/`, { allowPrivateAddresses: false, names })).toEqual({
        error: "blocked_address",
      })
    }
    expect(connections).toBe(0)
  })

  it.each([
    "http://93.184.216.34/",
    "https://93.184.216.34:22/",
    "https://user:word@93.184.216.34/",
    "ftp://93.184.216.34/",
  ])("stands for %s too, which no endpoint may have", async (url) => {
    expect(await post(url, { allowPrivateAddresses: false })).toEqual({ error: "blocked_address" })
  })
})
