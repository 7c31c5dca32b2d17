import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { type } from "arktype"
import express from "express"
// @ts-expect-error: the types of Express 5 serve for 4.
import express4 from "express-4"
import fastify from "fastify"
import { Hono } from "hono"
import { basicAuth } from "hono/basic-auth"
import { bodyLimit } from "hono/body-limit"
import { requestId } from "hono/request-id"
import * as v from "valibot"
import { describe, expect, it, onTestFinished } from "vitest"
import * as z from "zod"
import { defineCatalog } from "../src/defineCatalog.ts"
import { errorHandler as forExpress } from "../src/express.ts"
import { errorHandler as forFastify } from "../src/fastify.ts"
import { errorHandler as forHono } from "../src/hono.ts"
import { partnerEnvelope } from "../src/partnerEnvelope.ts"
import { tables } from "./payments.ts"

const status = (code: number) => ({ type: "payment", status: code, title: `A ${code}.` }) as const
const errors = defineCatalog({
  ...tables,
  codes: { ...tables.codes, INVALID: status(400), LOGIN: status(401), TOO_LARGE: status(413), BUSY: status(503) },
  envelope: partnerEnvelope,
  unknown: { 400: "INVALID", 401: "LOGIN", 413: "TOO_LARGE", 503: "BUSY", default: "INTERNAL" },
})

/** Values that any handler can throw, by path, with their code. */
const thrown = {
  "/ours": ["CARD_DECLINED", () => errors.error("CARD_DECLINED", { details: { reason: "stolen" } })],
  "/bug": ["INTERNAL", () => new Error("the password of db-7")],
  "/zod": ["INVALID", () => z.object({ amount: z.number() }).safeParse({}).error],
} as const
const failureOf = (path: string) => thrown[path as "/ours"][1]()

/** A server with a JSON route `/json` of at most 100 bytes, the failures above at their paths, and further routes of the framework. */
type Start = (log: (error: unknown) => unknown) => Promise<RequestListener>
const context = ({ headers }: { headers: { readonly [name: string]: string | string[] | undefined } }) => ({
  requestId: `${headers["x-request-id"]}`,
})

const startExpress =
  (create: typeof express): Start =>
  async (log) => {
    const app = create()
    app.post("/json", create.json({ limit: 100 }), (request, response) => void response.json(request.body))
    app.get("/items/:id", (_, response) => void response.end())
    app.get("/half", (_, response) => {
      response.setHeader("Content-Length", 5).write("ha")
      throw failureOf("/bug")
    })
    app.use((request, response) => {
      response.setHeader("Content-Length", 9_999)
      throw failureOf(request.path)
    })
    return app.use(forExpress(errors, { onError: log, context }))
  }

const startFastify: Start = async (log) => {
  const handler = forFastify(errors, { onError: log, context })
  const app = fastify({ bodyLimit: 100, frameworkErrors: handler })
  app.setErrorHandler(handler)
  const schema = { body: { type: "object" }, response: { "4xx": { type: "object", properties: {} } } }
  app.post("/json", { schema }, async (request) => request.body)
  app.setNotFoundHandler((request) => {
    throw failureOf(request.url)
  })
  await app.ready()
  return (request, response) => void app.routing(request, response)
}

const startHono: Start = async (log) => {
  const app = new Hono()
  app.use("/json", bodyLimit({ maxSize: 100 }))
  app.post("/json", async (c) => c.json(await c.req.json()))
  app.post("/form", async (c) => c.json([...(await c.req.formData()).keys()]))
  app.post("/parse", async (c) => c.json([JSON.parse("{"), await c.req.json()]))
  app.use(requestId())
  app.use("/login", basicAuth({ username: "ada", password: "pw" }))
  app.notFound((c) => {
    throw failureOf(c.req.path)
  })
  app.onError(forHono(errors, { onError: log, context: (c) => ({ requestId: `${c.req.header("X-Request-Id")}` }) }))
  return getRequestListener(app.fetch)
}

async function open(start: Start) {
  const logged: { readonly code: string; readonly cause?: unknown }[] = []
  const server = createServer(await start((error) => logged.push(error as never))).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const send = async (path: string, body?: string, type = "application/json") => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    const post = body === undefined ? {} : { method: "POST", body }
    const response = await fetch(url, { ...post, headers: { "X-Request-Id": "req_1", "Content-Type": type } })
    return { response, said: errors.parse(await response.text(), response) }
  }
  return { logged, send }
}

const servers = [
  ["Express 5", startExpress(express)],
  ["Express 4", startExpress(express4)],
  ["Fastify", startFastify],
  ["Hono", startHono],
] as const

describe.each(servers)("the error handler of %s", (name, start) => {
  it.each(Object.entries(thrown))("responds to %s, and reports it", async (path, [code, create]) => {
    const { logged, send } = await open(start)
    const { response, said } = await send(path)
    expect(said).toMatchObject({ code, status: errors.codes[code].status, requestId: "req_1" })
    expect(response.headers.get("Content-Type")).toMatch(/^application\/json/)
    expect(logged).toMatchObject([path === "/ours" ? { code } : { code, cause: { message: create()?.message } }])
  })

  it("returns a 4xx for a malformed path, and for a body that is malformed, too large or of another type", async () => {
    const { send } = await open(start)
    expect((await send("/json", '{"a":1}')).response.status).toBe(200)
    for (const body of ["{", '{"a":}']) expect((await send("/json", body)).said.code).toBe("INVALID")
    expect((await send("/json", JSON.stringify("x".repeat(200)))).said.code).toBe("TOO_LARGE")
    const type = name === "Fastify" ? "text/csv" : "application/json; charset=klingon"
    if (name === "Hono") return
    expect((await send("/json", "{}", type)).said).toMatchObject({ code: "INVALID", status: 400 })
    expect((await send("/items/%E0%A4%A")).said.code).toBe("INVALID")
  })
})

describe("the error handler", () => {
  it("of Express closes the connection of a response that has started", async () => {
    const { logged, send } = await open(startExpress(express))
    await expect(send("/half")).rejects.toThrow("terminated")
    expect(logged).toMatchObject([{ code: "INTERNAL" }])
  })

  it("of Hono knows its exceptions, and tells a malformed body from other malformed text", async () => {
    const { send } = await open(startHono)
    const { response, said } = await send("/login")
    expect([said.code, response.headers.get("X-Request-Id")]).toEqual(["LOGIN", "req_1"])
    expect((await send("/form", "a=1", "text/plain")).said.code).toBe("INVALID")
    expect((await send("/parse", '{"a":1}')).said.code).toBe("INTERNAL")
  })
})

const ARK_ERRORS = type({ a: "string" })({}) as type.errors
const http = (properties: object) => Object.assign(new Error("a secret"), properties)

it.each([
  ["Zod", "INVALID", z.object({ a: z.string() }).safeParse({}).error],
  ["Valibot", "INVALID", new v.ValiError(v.safeParse(v.object({ a: v.string() }), {}).issues!)],
  ["ArkType, returned", "INVALID", ARK_ERRORS],
  ["ArkType, thrown", "INVALID", ARK_ERRORS.toTraversalError()],
  ["a parser", "INVALID", Object.assign(new SyntaxError("a secret"), { status: 400 })],
  ["http-errors", "LOGIN", http({ statusCode: 401, expose: true })],
  ["http-errors, with another 4xx", "INVALID", http({ status: 418, expose: false })],
  ["http-errors, with a 5xx", "BUSY", http({ status: 503, expose: false })],
  ["http-errors, with another 5xx", "INTERNAL", http({ status: 502, expose: false })],
  ["axios", "INTERNAL", http({ status: 404, code: "ERR_BAD_REQUEST", response: { status: 404 } })],
  ["Octokit", "INTERNAL", http({ status: 404, name: "HttpError", response: { status: 404 } })],
  ["Stripe", "INTERNAL", http({ statusCode: 402, code: "card_declined", headers: {} })],
  ["superagent", "INTERNAL", Object.assign(new SyntaxError("<html>"), { statusCode: 400 })],
  ["another API, with no issues", "INTERNAL", { issues: [] }],
] as const)("an error of %s has the code %s, without its message", (_, code, caught) => {
  expect(errors.from(caught)).toMatchObject({ code, message: errors.codes[code].title, cause: caught })
  expect(defineCatalog({ ...tables, envelope: partnerEnvelope }).from(caught).code).toBe("INTERNAL")
})
