import { createServer, type RequestListener } from "node:http"
import { getRequestListener } from "@hono/node-server"
import express from "express"
import fastify from "fastify"
import { Hono } from "hono"
import { describe, expect, it } from "vitest"
import { webhookHandler as expressHandler } from "../src/express.ts"
import { webhookPlugin } from "../src/fastify.ts"
import { webhookHandler as fetchHandler } from "../src/fetch.ts"
import { webhookHandler as honoHandler } from "../src/hono.ts"
import type { WebhookEvent, WebhookVerificationError, WebhookVerifier } from "../src/index.ts"
import { createWebhookVerifier } from "../src/index.ts"
import { webhookHandler as lambdaHandler } from "../src/lambda.ts"
import { webhookHandler as nodeHandler } from "../src/node.ts"
import { sampleEvent, signWebhook } from "../src/testing.ts"
import { receivers } from "./receivers.ts"
import { serveHttp } from "./serveHttp.ts"
import { SECRET, signed } from "./signed.ts"

const verifier = createWebhookVerifier({ secrets: [SECRET] })

const signedRequest = async (event: Parameters<typeof signWebhook>[0], secrets: readonly string[] = [SECRET]) => {
  const { headers, body } = await signWebhook(event, secrets)
  return { headers: { ...headers }, body }
}
const refused = (status: number, error: string) => ({ status, answer: JSON.stringify({ error }) })

describe.each(receivers)("the adapter in $framework", ({ serve }) => {
  const start = async (handle: (event: WebhookEvent) => unknown = () => {}, maxBytes?: number) => {
    const errors: unknown[] = []
    const server = await serve(verifier, handle, { maxBytes, onError: (error) => errors.push(error) })
    const post = async (request: { headers?: Record<string, string>; body: string | Uint8Array<ArrayBuffer> }) => {
      const response = await fetch(`${server.url}/webhooks`, { method: "POST", ...request })
      return { status: response.status, answer: await response.text() }
    }
    return { post, errors, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  it("acknowledges with 200 once the handler is done", async () => {
    const events: WebhookEvent[] = []
    await using server = await start(async (event) => {
      await Promise.resolve()
      events.push(event)
    })
    const sent = { ...sampleEvent("outreach.email_clicked"), metadata: { note: "Zoë — 診 🚀" } }
    const request = await signedRequest(sent, ["another", SECRET])
    expect(await server.post(request)).toEqual({ status: 200, answer: '{"received":true}' })
    expect(events).toEqual([sent])
    expect(server.errors).toEqual([])
  })
  it("returns 401 and logs an error for an invalid or missing signature", async () => {
    await using server = await start(() => expect.unreachable())
    const { headers, body } = await signedRequest(sampleEvent("outreach.email_sent"))
    expect(await server.post({ headers, body: `${body} ` })).toEqual(refused(401, "no_match"))
    const unsigned = { headers: { "content-type": "application/json" }, body }
    expect(await server.post(unsigned)).toEqual(refused(401, "missing_header"))
    expect(server.errors).toMatchObject([{ code: "no_match" }, { code: "missing_header" }])
  })
  it("returns 400 for a signed body that is not an event", async () => {
    await using server = await start(() => expect.unreachable())
    expect(await server.post(await signedRequest("{}"))).toEqual(refused(400, "not_an_event"))
  })
  it("returns 500 when the handler fails, regardless of the status of its error", async () => {
    const failures = [new Error("down"), Object.assign(new Error("gone"), { status: 404, statusCode: 404 }), undefined]
    await using server = await start(() => {
      throw failures[server.errors.length]
    })
    const request = await signedRequest(sampleEvent("outreach.email_sent"))
    for (const _ of failures) expect(await server.post(request)).toEqual(refused(500, "handler_failed"))
    expect(server.errors).toEqual(failures)
  })
  it("accepts the largest event, and returns 413 for a larger body", async () => {
    await using server = await start(() => {}, 200_000)
    const recipients = Array.from(
      { length: 500 },
      () => sampleEvent("outreach.recipients_published").data.recipients[0]!,
    )
    const event = sampleEvent("outreach.recipients_published")
    const large = await signedRequest({ ...event, data: { ...event.data, recipients } })
    expect(await server.post(large)).toMatchObject({ status: 200 })
    const huge = await signedRequest({ ...event, metadata: { note: "x".repeat(200_000) } })
    expect(await server.post(huge)).toEqual(refused(413, "body_too_large"))
    expect(server.errors).toMatchObject([{ code: "body_too_large" }])
    expect(await server.post(large)).toMatchObject({ status: 200 })
  })
})

// The two others have the body as text only.
describe.each(receivers.filter(({ framework }) => !/text|json/.test(framework)))(
  "the adapter in $framework",
  ({ serve }) => {
    it("verifies the received bytes, even if they aren't valid text", async () => {
      await using server = await serve(verifier, () => expect.unreachable(), { onError: () => {} })
      const body = new Uint8Array([0xff, 0xfe, 0x00, 0xef, 0xbb, 0xbf])
      const headers = {
        "x-signature": signed(body, { timestamp: Math.floor(Date.now() / 1000) }),
        "content-type": "application/json",
      }
      const response = await fetch(`${server.url}/webhooks`, { method: "POST", headers, body })
      expect(await response.json()).toEqual({ error: "invalid_json" })
    })
  },
)

describe("a body that was parsed before", async () => {
  const { headers, body } = await signedRequest(sampleEvent("outreach.email_sent"))
  const errors: Error[] = []
  const options = { onError: (error: unknown) => errors.push(error as Error) }
  const adviceOf = async (url: string) => {
    errors.length = 0
    const response = await fetch(url, { method: "POST", headers, body })
    // The receiver's own fault, so that nothing is lost while it is mended.
    expect([response.status, await response.text()]).toEqual([500, '{"error":"body_already_parsed"}'])
    return errors[0]!.message
  }
  it.each([
    ["a route of Express", express.json(), expressHandler, /express\.json\(\{ .+ \}\)/],
    ["the verifier itself", express.json(), verifyParsed, /express\.raw\(\{.*?\}\)/],
  ])("is told by %s with words that, as they stand, take the largest event", async (_, parser, handler, words) => {
    const serve = (parse: express.RequestHandler) =>
      serveHttp(
        createServer(
          express()
            .use(parse)
            .post(
              "/",
              handler(verifier, () => {}, options),
            ),
        ),
      )
    await using parsing = await serve(parser)
    const [advice] = words.exec(await adviceOf(parsing.url)) ?? []
    await using server = await serve(new Function("express", `return ${advice}`)(express))
    const large = { ...sampleEvent("outreach.email_sent"), metadata: { note: "x".repeat(65_000) } }
    const response = await fetch(server.url, { method: "POST", ...(await signedRequest(large)) })
    expect(response.status).toBe(200)
  })
  const never = () => expect.unreachable()
  const hono = new Hono().use(async (context, next) => {
    await context.req.json()
    await next()
  })
  hono.post("/", honoHandler(verifier, never, options))
  const handler = nodeHandler(verifier, never, options)
  it.each<[string, RequestListener, fix: string]>([
    [
      "Express",
      express()
        .use(express.json())
        .post("/", expressHandler(verifier, never, options)),
      "before app.use(express.json())",
    ],
    ["Hono", getRequestListener(hono.fetch), "request.clone()"],
    [
      "node:http",
      async (request, response) => {
        await request.toArray()
        await handler(request, response)
      },
      "request.rawBody",
    ],
  ])("is reported with the fix for %s", async (_, listener, fix) => {
    await using server = await serveHttp(listener)
    expect(await adviceOf(server.url)).toContain(fix)
  })
  it("is reported with the fix for Lambda", async () => {
    const handler = lambdaHandler(verifier, () => expect.unreachable(), options)
    expect(await handler({ headers, body: JSON.parse(body) })).toMatchObject({ statusCode: 500 })
    expect(errors.at(-1)!.message).toContain("httpJsonBodyParser")
  })
})

/** A route of Express that hands the request over by hand, with whatever a parser made of its body. */
function verifyParsed(
  { verify }: WebhookVerifier,
  handle: (event: WebhookEvent) => unknown,
  { onError }: { onError: (error: unknown) => unknown },
): express.RequestHandler {
  return async ({ headers, body }, response) => {
    try {
      await handle(await verify({ headers, body }))
      response.end()
    } catch (error) {
      onError(error)
      const { status, code } = error as WebhookVerificationError
      response.status(status).json({ error: code })
    }
  }
}

it("leaves the parsers of Fastify's other routes as they are", async () => {
  const app = fastify()
  app.register(webhookPlugin(verifier, () => {}, { url: "/webhooks" }))
  app.post("/other", async (request) => request.body)
  await app.listen({ port: 0, host: "127.0.0.1" })
  await using server = await serveHttp(app.server)
  const other = await fetch(`${server.url}/other`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"a":1}',
  })
  expect(await other.json()).toEqual({ a: 1 })
})

it("returns an error code for a Lambda event with invalid base64 or missing parts", async () => {
  const handler = lambdaHandler(verifier, () => expect.unreachable(), { onError: () => {} })
  expect(await handler({ headers: {}, body: "%", isBase64Encoded: true })).toMatchObject({
    body: '{"error":"malformed_body"}',
  })
  expect(await handler({})).toMatchObject({ statusCode: 500, body: '{"error":"not_a_request"}' })
  expect(await handler({ headers: { host: "a.test" } })).toMatchObject({ body: '{"error":"missing_header"}' })
})

it("returns a response even if the log fails", async () => {
  const answer = fetchHandler(verifier, () => {}, { onError: () => { throw new Error("no log") } }) // biome-ignore format: short
  expect((await answer(new Request("https://a.test", { method: "POST", body: "{}" }))).status).toBe(401)
})

const streamed = (source: ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]) =>
  new Request("https://a.test", { method: "POST", body: new ReadableStream(source), duplex: "half" } as RequestInit)

it("returns an error for an interrupted body, so that the event is sent again", async () => {
  const answer = fetchHandler(verifier, () => {}, { onError: () => {} })
  const request = streamed({ pull: (stream) => stream.error(new Error("reset")) })
  expect(await (await answer(request)).json()).toEqual({ error: "broken_body" })
})

it("reads a body that is too large to its end, because frameworks break off the connection of one that is cancelled", async () => {
  const answer = fetchHandler(verifier, () => expect.unreachable(), { maxBytes: 65_536, onError: () => {} })
  const chunks = Array.from({ length: 5 }, () => new Uint8Array(40_000))
  const request = streamed({
    pull: (stream) => {
      const chunk = chunks.shift()
      if (chunk === undefined) stream.close()
      else stream.enqueue(chunk)
    },
    cancel: () => expect.unreachable(),
  })
  expect((await answer(request)).status).toBe(413)
  expect(chunks).toEqual([])
})

it("cancels an endless body and returns 413", async () => {
  const answer = fetchHandler(verifier, () => expect.unreachable(), { maxBytes: 65_536, onError: () => {} })
  const chunk = new Uint8Array(1_048_576)
  let isCancelled = false
  const request = streamed({
    pull: (stream) => stream.enqueue(chunk),
    cancel: () => {
      isCancelled = true
    },
  })
  expect((await answer(request)).status).toBe(413)
  expect(isCancelled).toBe(true)
})

describe.each([
  ["Express", expressHandler],
  ["Fastify", webhookPlugin],
  ["Fetch", fetchHandler],
  ["Hono", honoHandler],
  ["AWS Lambda", lambdaHandler],
  ["node:http", nodeHandler],
] as const)("the adapter for %s", (_, create) => {
  it("rejects a limit that is not a whole number, or is smaller than the largest event", () => {
    for (const maxBytes of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 65_535, 65_536.5, "1048576"]) {
      expect(() => create(verifier, () => {}, { maxBytes: maxBytes as number })).toThrow(
        /^maxBytes must be a whole number from 65536 on/,
      )
    }
    expect(create(verifier, () => {}, { maxBytes: undefined })).toBeTypeOf("function")
  })
})
