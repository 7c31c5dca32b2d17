import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate } from "node:timers/promises"
import { getRequestListener } from "@hono/node-server"
import { fixedWindow, type HeaderForm, type RateLimiter, type RateLimitStore, rateLimiter } from "@outreach/rate-limit"
import { rateLimit as limitExpress } from "@outreach/rate-limit/express"
import { rateLimit as limitFastify } from "@outreach/rate-limit/fastify"
import { rateLimit as limitFetch } from "@outreach/rate-limit/fetch"
import { memoryStore } from "@outreach/rate-limit/memory"
import express from "express"
// @ts-expect-error: the types of Express 5 serve for 4.
import express4 from "express-4"
import fastify from "fastify"
import { Hono } from "hono"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"

/**
 * Starts a server that serves one page. Requests count for their `x-key`, cost what `x-cost` says, and have no limit with the key `none`.
 * The response has the status in `x-status`; the handler of status 500 throws.
 */
type Start = (
  limiter: RateLimiter,
  options: { readonly headers?: HeaderForm; readonly counts?: (status: number) => boolean },
  refusal: "plain" | "own",
) => Promise<RequestListener>

interface WithHeaders {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}
const key = ({ headers }: WithHeaders) => (headers["x-key"] === "none" ? null : (headers["x-key"] as string))
const cost = ({ headers }: WithHeaders) => Number(headers["x-cost"] ?? 1)

/** Returns the status to respond with, after the other requests that are in progress were counted. */
const statusFor = async (wanted: string | null | undefined): Promise<number> => {
  await setImmediate()
  if (wanted === "500") throw new Error("broken")
  return Number(wanted ?? 200)
}

const startExpress =
  (create: () => express.Express): Start =>
  async (limiter, options, refusal) => {
    const app = create()
    const own = {
      refuse: ({ retryAfter }: { retryAfter: number | null }, _: unknown, response: express.Response) =>
        response.status(429).json({ retryAfter }),
    }
    app.use(limitExpress(limiter, { key, cost, ...options, ...(refusal === "own" && own) }))
    app.get("/", ({ headers }, response, next) => {
      statusFor(headers["x-status"] as string).then((status) => response.status(status).send("served"), next)
    })
    const failed: express.ErrorRequestHandler = (_error, _, response, _next) => void response.status(500).send("failed")
    return app.use(failed)
  }

const servers: readonly (readonly [string, Start])[] = [
  ["Express 5", startExpress(express)],
  ["Express 4", startExpress(express4)],
  [
    "Fastify",
    async (limiter, options, refusal) => {
      const app = fastify()
      const hook =
        refusal === "own"
          ? limitFastify(limiter, {
              key,
              cost,
              ...options,
              refuse: ({ retryAfter }, _, reply) => reply.code(429).send({ retryAfter }),
            })
          : limitFastify(limiter, { key, cost, ...options })
      app.addHook("onRequest", hook)
      app.get("/", async ({ headers }, reply) => {
        return reply.code(await statusFor(headers["x-status"] as string)).send("served")
      })
      await app.ready()
      return (request, response) => void app.routing(request, response)
    },
  ],
  [
    "Fetch",
    async (limiter, options, refusal) => {
      const app = new Hono()
        .onError((error) => Promise.reject(error))
        .get("/", async (context) =>
          context.text("served", (await statusFor(context.req.header("x-status"))) as ContentfulStatusCode),
        )
      const handle = limitFetch(
        limiter,
        {
          key: (request: Request) =>
            request.headers.get("x-key") === "none" ? null : (request.headers.get("x-key") ?? undefined)!,
          cost: (request) => Number(request.headers.get("x-cost") ?? 1),
          ...options,
          ...(refusal === "own" && {
            refuse: ({ retryAfter }: { retryAfter: number | null }) => Response.json({ retryAfter }, { status: 429 }),
          }),
        },
        app.fetch,
      )
      return getRequestListener(async (request) => handle(request).catch(() => new Response("failed", { status: 500 })))
    },
  ],
]

describe.each(servers)("the middleware of %s", (_, start) => {
  let limiter: RateLimiter
  beforeEach(() => {
    limiter = rateLimiter(fixedWindow({ limit: 2 }), memoryStore({ now: () => 1_780_000_039_500 }))
  })
  const open = async (options: Parameters<Start>[1] = {}, refusal: "plain" | "own" = "plain") => {
    const server = createServer(await start(limiter, options, refusal)).listen(0, "127.0.0.1")
    await once(server, "listening")
    onTestFinished(() => void server.close())
    return async (sent: Record<string, string>) => {
      const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { headers: sent })
      const names = ["ratelimit", "ratelimit-policy", "retry-after", "content-type"]
      const shown = Object.fromEntries(names.map((name) => [name, response.headers.get(name)]))
      return { status: response.status, body: await response.text(), shown, headers: response.headers }
    }
  }

  it("serves requests up to a key's limit, then returns 429 in plain text, with headers on both", async () => {
    const send = await open()
    const served = await send({ "x-key": "a" })
    expect(served).toMatchObject({ status: 200, body: "served" })
    expect(served.shown).toMatchObject({
      ratelimit: '"default";r=1;t=41',
      "ratelimit-policy": '"default";q=2;w=60',
      "retry-after": null,
    })
    await send({ "x-key": "a" })
    const refused = await send({ "x-key": "a" })
    expect(refused).toMatchObject({ status: 429, body: "Too Many Requests\n" })
    expect(refused.shown).toMatchObject({ ratelimit: '"default";r=0;t=41', "retry-after": "41" })
    expect(refused.shown["content-type"]).toMatch(/^text\/plain/)
    expect((await send({ "x-key": "b" })).status).toBe(200)
  })
  it("sets the X-RateLimit headers if configured", async () => {
    const send = await open({ headers: "x" })
    const { headers } = await send({ "x-key": "a" })
    const shown = ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`))
    expect(shown).toEqual(["2", "1", "1780000080"])
    expect(headers.has("ratelimit")).toBe(false)
  })
  it("returns a custom response over the limit, with the headers", async () => {
    const send = await open({}, "own")
    for (let i = 0; i < 2; i++) await send({ "x-key": "a" })
    const refused = await send({ "x-key": "a" })
    expect(refused).toMatchObject({ status: 429, body: '{"retryAfter":41}' })
    expect(refused.shown).toMatchObject({ ratelimit: '"default";r=0;t=41', "retry-after": "41" })
  })
  it("counts the cost of a request", async () => {
    const send = await open()
    expect((await send({ "x-key": "a", "x-cost": "2" })).shown["ratelimit"]).toBe('"default";r=0;t=41')
    const never = await send({ "x-key": "b", "x-cost": "3" })
    expect(never).toMatchObject({ status: 429, shown: { ratelimit: '"default";r=2;t=41', "retry-after": null } })
  })
  it("counts only failed requests if configured, and at most the limit of those that come together", async () => {
    const send = await open({ counts: (status) => status >= 400 })
    const login = (key: string, status = 200) => send({ "x-key": key, "x-status": `${status}` })
    for (let i = 0; i < 5; i++) expect((await login("a")).status).toBe(200)
    expect((await login("a", 401)).shown["ratelimit"]).toBe('"default";r=1;t=41')
    for (let i = 0; i < 5; i++) expect((await login("a")).status).toBe(200)
    expect((await login("a", 500)).status).toBe(500)
    expect((await login("a")).status).toBe(429)
    const guesses = await Promise.all(Array.from({ length: 6 }, () => login("b", 401)))
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(2)
  })
  it("counts only successful requests if configured, with their cost", async () => {
    const send = await open({ counts: (status) => status < 400 })
    for (const status of [404, 500, 404]) {
      expect((await send({ "x-key": "a", "x-cost": "2", "x-status": `${status}` })).status).toBe(status)
    }
    expect((await send({ "x-key": "a", "x-cost": "2" })).status).toBe(200)
    expect((await send({ "x-key": "a" })).status).toBe(429)
  })
  it("keeps a request counted if the store fails after it", async () => {
    const store = memoryStore({ now: () => 1_780_000_039_500 })
    const spend: RateLimitStore["spend"] = (key, change, policy) =>
      change.units < 0 ? Promise.reject(new Error("no connection")) : store.spend(key, change, policy)
    const errors: unknown[] = []
    limiter = rateLimiter(fixedWindow({ limit: 1 }), { spend }, { onAway: (error) => errors.push(error) })
    const send = await open({ counts: () => false })
    expect((await send({ "x-key": "a" })).status).toBe(200)
    expect((await send({ "x-key": "a" })).status).toBe(429)
    expect(errors).toEqual([new Error("no connection")])
  })
  it("doesn't limit a request with a null key, and returns 500 without a valid key", async () => {
    const send = await open()
    for (let i = 0; i < 3; i++)
      expect(await send({ "x-key": "none" })).toMatchObject({ status: 200, shown: { ratelimit: null } })
    expect((await send({})).status).toBe(500)
    expect((await send({ "x-key": "a".repeat(513) })).status).toBe(500)
  })
})

describe("the middleware of Fetch", () => {
  const limiter = () => rateLimiter(fixedWindow({ limit: 5 }), memoryStore({ now: () => 0 }))

  it("sets headers on a response with immutable headers", async () => {
    const handle = limitFetch(limiter(), { key: () => "a" }, async () => Response.redirect("https://example.com/", 302))
    const response = await handle(new Request("https://example.com/a"))
    expect([response.status, response.headers.get("location")]).toEqual([302, "https://example.com/"])
    expect(response.headers.get("ratelimit")).toBe('"default";r=4;t=60')
  })
  it("hands further arguments on, and types them", async () => {
    const handle = limitFetch(
      limiter(),
      { key: (request) => request.headers.get("x-key") },
      (_request: Request, env: { readonly name: string }) => new Response(env.name),
    )
    expect(await (await handle(new Request("https://example.com/"), { name: "worker" })).text()).toBe("worker")
  })
  it("lets errors of the handler pass", async () => {
    const handle = limitFetch(limiter(), { key: () => "a" }, () => Promise.reject(new Error("broken")))
    await expect(handle(new Request("https://example.com/"))).rejects.toThrow("broken")
  })
})
