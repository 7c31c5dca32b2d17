import { once } from "node:events"
import { get, type IncomingMessage, type RequestListener } from "node:http"
import { get as getWithTls } from "node:https"
import { runInNewContext } from "node:vm"
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs"
import fc from "fast-check"
import { Agent, interceptors, request, fetch as undiciFetch } from "undici"
import { describe, expect, it } from "vitest"
import { classify, type RetryOn } from "../src/classify.ts"
import { stop } from "../src/stop.ts"
import certificates from "./data/certificates.json" with { type: "json" }
import { startServer } from "./startServer.ts"

/** The system never assigns this port, so nothing listens on it. Fetch blocks port 1. */
const CLOSED_PORT = 2
const statusIn = (from: number, to: number) => fc.integer({ min: from, max: to })
const failed = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )
const node = (url: string, options = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) =>
    (url.startsWith("https") ? getWithTls : get)(url, options, resolve).on("error", reject),
  )
const transient = (reason: string) => ({ verdict: "transient", reason })
const { elsewhere, expired } = certificates
const permanent = (reason: string) => ({ verdict: "permanent", reason })

describe("a status", () => {
  it("of 2xx is a success", () => {
    fc.assert(
      fc.property(statusIn(200, 299), (status) => {
        expect(classify({ status, headers: {} })).toEqual({ verdict: "success", reason: String(status) })
      }),
    )
  })

  it("of 5xx, or beyond 599, is transient, and every other is permanent, 408, 425 and 429 among them", () => {
    fc.assert(
      fc.property(fc.oneof(statusIn(100, 199), statusIn(300, 999), fc.constantFrom(408, 425, 429)), (status) => {
        expect(classify({ status, headers: {} })).toEqual({
          verdict: status >= 500 ? "transient" : "permanent",
          reason: String(status),
        })
      }),
    )
  })

  it("is transient where the caller names it or its class, and a success in any case", () => {
    const verdict = (status: number, ...retryOn: RetryOn[]) => classify({ status, headers: {} }, { retryOn }).verdict
    expect([429, 408, 503].map((status) => verdict(status, 408, 429))).toEqual(["transient", "transient", "permanent"])
    expect([302, 429, 503].map((status) => verdict(status, "3xx", "4xx"))).toEqual([
      "transient",
      "transient",
      "permanent",
    ])
    expect(verdict(503)).toBe("permanent")
    expect(verdict(204, 204, "5xx")).toBe("success")
  })

  it.each([0, -200, 99, 1000, 200.5, Number.NaN, "active", null, undefined, {}])("%s is not one", (status) => {
    expect(classify({ status, headers: {} })).toEqual({ verdict: "success", reason: "" })
  })

  it("of the task's own result, which isn't a response, is not one", () => {
    for (const own of [{ status: 503 }, { response: { statusCode: 503 } }])
      expect(classify(own)).toEqual({ verdict: "success", reason: "" })
  })

  it("of a real response is found, and its Retry-After, with fetch, undici and node:http", async () => {
    const { url } = await startServer((_, response) => response.writeHead(429, { "Retry-After": "7" }).end())
    const outcome = { verdict: "transient", reason: "429", retryAfter: 7000 }
    for (const response of [await fetch(url), await request(url), await node(url)]) {
      expect(classify(response, { retryOn: [429] })).toEqual(outcome)
    }
  })

  it("is found in an error's response, and in the error itself", async () => {
    const { url } = await startServer((_, response) => response.writeHead(503, { "Retry-After": "7" }).end("busy"))
    const outcome = { verdict: "transient", reason: "503", retryAfter: 7000 }
    const holding = Object.assign(new Error("not ok"), { response: await fetch(url) })
    const dispatcher = new Agent().compose(interceptors.responseError())
    for (const error of [holding, await failed(request(url, { dispatcher }))]) {
      expect(classify(error)).toEqual(outcome)
    }
  })

  it("of 2xx does not make a success of an error", () => {
    expect(classify(Object.assign(new SyntaxError("no JSON"), { status: 200 }))).toEqual({
      verdict: "permanent",
      reason: "SyntaxError",
    })
  })

  it("comes after a failure of the network, since the response never ended", () => {
    const error = Object.assign(new Error("cut off"), { code: "ECONNRESET", status: 400 })
    expect(classify(error)).toEqual(transient("ECONNRESET"))
  })
})

describe("Retry-After", () => {
  it("that is a date counts from the response's Date, and otherwise from now", () => {
    const until = "Mon, 23 Nov 2026 06:00:00 GMT"
    const now = () => Date.UTC(2026, 10, 23, 5, 30)
    const wait = (headers: Record<string, string>) => classify({ status: 503, headers }, { now }).retryAfter
    expect(wait({ "retry-after": until })).toBe(1_800_000)
    expect(wait({ "retry-after": until, date: "Mon, 23 Nov 2026 05:00:00 GMT" })).toBe(3_600_000)
  })

  it.each([null, "text", [], { get: null }, { "retry-after": {} }, { "retry-after": ["1", "2"] }, new Map()])(
    "is not there in headers such as %j",
    (headers) => {
      expect(classify({ status: 503, headers })).toEqual({ ...transient("503"), retryAfter: undefined })
    },
  )
})

describe("a real failure of the network is transient, and named by its code:", () => {
  const failures = async (url: string) => [
    classify(await failed(fetch(url).then((response) => response.text()))),
    classify(await failed(request(url).then(({ body }) => body.text()))),
    classify(await failed(node(url).then(async (response) => once(response.resume(), "end")))),
  ]

  it("a closed port", async () => {
    expect(await failures(`http://127.0.0.1:${CLOSED_PORT}/`)).toEqual(Array(3).fill(transient("ECONNREFUSED")))
  })

  it("several addresses with a closed port", async () => {
    const addresses = [
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.2", family: 4 },
    ]
    const lookup = (_: string, __: object, callback: (error: null, found: object) => void) => callback(null, addresses)
    const error = await failed(node(`http://example.test:${CLOSED_PORT}/`, { lookup, autoSelectFamily: true }))
    expect(error).toBeInstanceOf(AggregateError)
    expect(classify(error)).toEqual(transient("ECONNREFUSED"))
  })

  it("a name that does not exist", async () => {
    for (const { verdict, reason } of await failures("http://nowhere.invalid/")) {
      expect([verdict, reason]).toEqual(["transient", expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/)])
    }
  })

  it("a server without TLS", async () => {
    const { url } = await startServer(() => {})
    for (const error of [
      await failed(fetch(url.replace("http", "https"))),
      await failed(request(url.replace("http", "https"))),
    ]) {
      expect(classify(error)).toEqual(transient(expect.stringMatching(/^(ERR_SSL_|EPROTO)/)))
    }
  })

  const broken: Record<string, RequestListener> = {
    "a connection that breaks off": (request) => request.socket.destroy(),
    "a body that breaks off": (request, response) => {
      response.writeHead(200, { "Content-Length": "1000" }).write("{", () => request.socket.destroy())
    },
  }
  it.each(Object.entries(broken))("%s", async (_, listener) => {
    const { url } = await startServer(listener)
    expect(await failures(url)).toEqual([
      transient("UND_ERR_SOCKET"),
      transient("UND_ERR_SOCKET"),
      transient("ECONNRESET"),
    ])
  })

  it("a response that is not HTTP", async () => {
    const { url } = await startServer((request) => request.socket.end("nonsense\r\n\r\n"))
    for (const outcome of await failures(url))
      expect(outcome).toEqual(transient(expect.stringMatching(/^(HPE_|HTTPParserError)/)))
  })

  it("a response that does not come in time", async () => {
    const { url } = await startServer(() => {})
    const dispatcher = new Agent({ headersTimeout: 1 })
    const error = await failed(request(url, { dispatcher }))
    expect(classify(error)).toEqual(transient("UND_ERR_HEADERS_TIMEOUT"))
    for (const call of [fetch, request]) {
      const error = await failed(call(url, { signal: AbortSignal.timeout(1) }))
      expect(classify(error)).toEqual(transient("TimeoutError"))
    }
  })
})

describe("an error", () => {
  it("of an abort is permanent, because the caller has given up", async () => {
    const { url } = await startServer(() => {})
    for (const call of [fetch, request, node]) {
      const error = await failed(call(url, { signal: AbortSignal.abort() }))
      for (const retryOn of [undefined, ["error"] as const]) {
        expect(classify(error, { retryOn })).toEqual({
          verdict: "permanent",
          reason: expect.stringMatching(/^(AbortError|ABORT_ERR)$/),
        })
      }
    }
  })

  it.each([
    ["has expired", expired, [expired.cert], "CERT_HAS_EXPIRED"],
    ["is of another name", elsewhere, [elsewhere.cert], "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["is self-signed", elsewhere, undefined, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ] as const)("of a server's certificate that %s is permanent", async (_, certificate, trusted, code) => {
    const { url } = await startServer(() => {}, certificate)
    const ca = trusted && [...trusted]
    const dispatcher = new Agent({ connect: { ca } })
    for (const call of [node(url, { ca }), request(url, { dispatcher }), undiciFetch(url, { dispatcher })]) {
      const error = await failed(call)
      expect(classify(error)).toEqual(permanent(code))
      expect(classify(error, { retryOn: [code] })).toEqual(transient(code))
    }
  })

  it("of a certificate is permanent too for a wrong purpose, if the server rejects the caller's, and in Deno", () => {
    const alerts = ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"]
    for (const code of [...alerts, "CRL_HAS_EXPIRED", "INVALID_CA", "INVALID_PURPOSE", "PATH_LENGTH_EXCEEDED"])
      expect(classify(new TypeError("fetch failed", { cause: { name: "Error", code } }))).toEqual(permanent(code))
    const ofDeno = "error sending request for url (https://127.0.0.1/): invalid peer certificate: Expired"
    expect(classify(new TypeError(ofDeno))).toEqual(permanent("TypeError"))
  })

  it("of a fetch that can never succeed is permanent: a blocked port, an unknown scheme, too many redirects", async () => {
    const { url } = await startServer((_, response) => response.writeHead(302, { Location: "/" }).end())
    for (const call of [fetch, undiciFetch])
      for (const address of ["http://127.0.0.1:1/", "gopher://127.0.0.1/", url])
        expect(classify(await failed(call(address)))).toEqual(permanent("TypeError"))
  })

  it("of stop is permanent, with the reason of its error", () => {
    const refused = Object.assign(new Error(), { code: "ECONNREFUSED" })
    expect(classify(stop(refused), { retryOn: ["error", "network", "ECONNREFUSED"] })).toEqual(
      permanent("ECONNREFUSED"),
    )
    expect(classify(stop("text"))).toEqual(permanent("thrown"))
  })

  it("with a name that only starts like a network failure is permanent", () => {
    for (const name of ["ConnectionClosedByUser", "TimeoutErrorOfMine"])
      expect(classify(Object.assign(new Error(), { name }))).toEqual({ verdict: "permanent", reason: name })
    expect(classify(Object.assign(new Error(), { code: "ConnectionClosed" }))).toEqual(transient("ConnectionClosed"))
  })

  it.each([
    "Failed to fetch",
    "NetworkError when attempting to fetch resource.",
    "Load failed",
    "The network connection was lost.",
    "The Internet connection appears to be offline.",
    "Network connection lost.",
    "Network request failed",
    "network error",
    "A network error occurred.",
    "error sending request for url (http://127.0.0.1:1/): client error (Connect)",
    "terminated",
  ])("of a fetch that has no code is known by what it says: %s", (message) => {
    expect(classify(new TypeError(message))).toEqual(transient("network"))
    expect(classify(new Error(message))).toEqual({ verdict: "permanent", reason: "Error" })
  })

  it("of the task's own code is permanent", async () => {
    for (const task of [() => (undefined as unknown as { fetch: () => void }).fetch(), () => fetch("no address")]) {
      const error = await failed(Promise.resolve().then(task))
      expect(classify(error)).toMatchObject({ verdict: "permanent" })
    }
  })

  it("is transient where its code or name is listed, and every other with error", () => {
    const refused = Object.assign(new Error(), { code: "ECONNREFUSED" })
    const reset = Object.assign(new Error(), { code: "ECONNRESET" })
    const verdicts = (...retryOn: RetryOn[]) =>
      [refused, reset, new RangeError()].map((error) => classify(error, { retryOn }).verdict)
    expect(verdicts("ECONNREFUSED")).toEqual(["transient", "permanent", "permanent"])
    expect(verdicts("RangeError")).toEqual(["permanent", "permanent", "transient"])
    expect(verdicts("network", "error")).toEqual(["transient", "transient", "transient"])
  })

  it("is known by a cause however deep, and by one of the errors that it gathers", () => {
    const reset = Object.assign(new Error(), { code: "ECONNRESET" })
    const gathering = new AggregateError([new Error("first"), new Error("second", { cause: reset })])
    expect(classify(new Error("outer", { cause: new Error("inner", { cause: gathering }) }))).toEqual(
      transient("ECONNRESET"),
    )
  })

  it("with circular, endless or very many causes is permanent", () => {
    const [first, second] = [new Error("first"), new Error("second")]
    Object.assign(first, { cause: second })
    Object.assign(second, { cause: first, errors: [first, second] })
    expect(classify(first)).toEqual({ verdict: "permanent", reason: "Error" })
    class Endless extends Error {
      override get cause() {
        return new Endless()
      }
    }
    expect(classify(new Endless())).toMatchObject({ verdict: "permanent" })
    const many = new AggregateError(Array.from({ length: 1e4 }, () => new Error()))
    expect(classify(many)).toMatchObject({ verdict: "permanent" })
  })

  it("of another realm is known too", () => {
    expect(classify(runInNewContext('Object.assign(new Error(), { code: "EPIPE" })'))).toEqual(transient("EPIPE"))
    expect(classify(new DOMException("late", "TimeoutError"))).toEqual(transient("TimeoutError"))
  })

  it("never makes its message a reason", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (message) => {
        expect(classify(new Error(message)).reason).toBe("Error")
      }),
    )
  })
})

describe("an error of the AWS SDK", () => {
  const send = (endpoint: string) => {
    const credentials = { accessKeyId: "key", secretAccessKey: "secret" }
    const client = new SQSClient({ region: "us-east-1", endpoint, credentials, maxAttempts: 1 })
    return failed(client.send(new SendMessageCommand({ QueueUrl: endpoint, MessageBody: "text" })))
  }
  const rejected = async (status: number, type: string) => {
    const { url } = await startServer((request, response) => {
      request.resume()
      response.writeHead(status, { "Content-Type": "application/x-amz-json-1.0", "Retry-After": "7" })
      response.end(JSON.stringify({ __type: type }))
    })
    return send(url)
  }
  const later = { retryAfter: 7000 }

  it("has the status of its response, and Retry-After", async () => {
    expect(classify(await rejected(503, "ServiceUnavailable"))).toEqual({ ...transient("503"), ...later })
    expect(classify(await rejected(404, "com.amazonaws.sqs#QueueDoesNotExist"))).toEqual({
      ...permanent("404"),
      ...later,
    })
    expect(classify(await rejected(429, "Busy"), { retryOn: [429] })).toEqual({ ...transient("429"), ...later })
  })

  it("that AWS declares temporary counts as 5xx, and is also matched by its name and its status", async () => {
    for (const name of ["ThrottlingException", "RequestThrottled", "RequestTimeout"]) {
      const error = await rejected(400, `com.amazonaws.sqs#${name}`)
      expect(classify(error)).toEqual({ ...transient(name), ...later })
      for (const retryOn of [name, 400]) expect(classify(error, { retryOn: [retryOn] }).verdict).toBe("transient")
      expect(classify(error, { retryOn: ["network"] }).verdict).toBe("permanent")
    }
    const modeled = Object.assign(new Error(), { name: "IDPCommunicationError", $retryable: {}, $metadata: {} })
    expect(classify(modeled)).toEqual(transient("IDPCommunicationError"))
    const foreign = Object.assign(new Error(), { name: "ThrottlingException" })
    expect(classify(foreign)).toEqual(permanent("ThrottlingException"))
  })

  it("without a response is a failure of the network", async () => {
    expect(classify(await send(`http://127.0.0.1:${CLOSED_PORT}`))).toEqual(transient("ECONNREFUSED"))
  })
})

it("classifies any result that is neither a response nor an error as a success", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (result) => {
      fc.pre(!/^[1-9]\d\d$/.test(String(Object(result).status ?? "")))
      expect(classify(result)).toEqual({ verdict: "success", reason: "" })
    }),
  )
})
