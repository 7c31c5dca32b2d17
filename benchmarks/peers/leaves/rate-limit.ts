import fastifyRateLimit from "@fastify/rate-limit"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { redisServer } from "@outreach/debian-packages/redisServer"
import { fixedWindow, keyOfAddress, rateLimiter, tokenBucket } from "@outreach/rate-limit"
import { rateLimit as limitExpress } from "@outreach/rate-limit/express"
import { rateLimit as limitFastify } from "@outreach/rate-limit/fastify"
import { rateLimit as limitFetch } from "@outreach/rate-limit/fetch"
import { memoryStore } from "@outreach/rate-limit/memory"
import { redisStore } from "@outreach/rate-limit/redis"
import { rateLimit as expressRateLimit } from "express-rate-limit"
import Fastify, { type FastifyInstance } from "fastify"
import { Hono } from "hono"
import { rateLimiter as honoRateLimiter } from "hono-rate-limiter"
import { Redis } from "ioredis"
import { RateLimiterMemory, RateLimiterRedis } from "rate-limiter-flexible"
import type { Comparison } from "./Comparison.ts"

const MEMORY = "in memory, one of 10,000 keys"
const REDIS = "in Redis, 20 concurrent requests"
const EXPRESS = "middleware of Express, with headers"
const FASTIFY = "a request to Fastify, with headers"
const HONO = "a request to Hono, with headers"

const BUCKET = "token bucket"
const COST = "cost of a request"
const DRAFT = "`RateLimit` and `RateLimit-Policy`"
const X = "`X-RateLimit-*`"
const IN_REDIS = "Redis without an additional package"
const IN_POSTGRES = "PostgreSQL"
const OTHERS = "MongoDB, MySQL, DynamoDB and more"
const BOUNDED = "bounded number of keys in memory"
const AWAY = "can allow requests while the store is unavailable"
const ON_EXPRESS = "middleware: Express"
const ON_FASTIFY = "middleware: Fastify"
const ON_HONO = "middleware: Hono"
const PURE = "pure decision function, without clock or store"
const OUTCOME = "counts only failed or successful requests"
const ADDRESS = "one key for an IPv6 network"
const PENALTY = "penalties and rewards of a key"
const RESET = "reset of a key"
const BLOCK = "blocks and queues"

/** Never reached, so that each candidate does the same work. */
const LIMIT = 1_000_000_000
const KEYS = Array.from({ length: 10_000 }, (_, i) => `key ${i}`)
let turn = 0
const nextKey = (): string => KEYS[turn++ % KEYS.length]!

const policy = fixedWindow({ limit: LIMIT })
const memory = rateLimiter(policy, memoryStore({ now: Date.now }))
const flexible = new RateLimiterMemory({ points: LIMIT, duration: 60 })

const installed = findProgram("redis")
const server = "missing" in installed ? undefined : redisServer(installed.program)
await server?.start()
const client = server && new Redis({ path: server.socket })
const together = (take: () => PromiseLike<unknown>) => () => Promise.all(Array.from({ length: 20 }, take))

/** The parts of a request and a response that an Express middleware uses, without a connection. */
const expressCall = (middleware: (request: never, response: never, next: () => void) => unknown) => {
  const request = { ip: "192.0.2.1", headers: {}, method: "GET", path: "/", app: { get: () => false } }
  const response = { headersSent: false, statusCode: 200, setHeader: () => {}, end: () => {}, on: () => {} }
  return () => new Promise<void>((next) => void middleware(request as never, response as never, next))
}
const fastifyCall = (app: FastifyInstance) => {
  app.get("/", () => "ok")
  return () => app.inject("/").then(({ statusCode }) => assertServed(statusCode))
}
const honoCall = (handle: (request: Request) => Response | Promise<Response>) => async () =>
  assertServed((await handle(new Request("http://localhost/"))).status)

function assertServed(status: number): void {
  if (status !== 200) throw new Error(`A request returned ${status}`)
}

const fastifyOurs = Fastify()
fastifyOurs.addHook("onRequest", limitFastify(memory, { key: ({ ip }) => keyOfAddress(ip) }))
const fastifyTheirs = Fastify()
await fastifyTheirs.register(fastifyRateLimit, { max: LIMIT, timeWindow: "1 minute" })

const hono = new Hono().get("/", (context) => context.text("ok"))
const limitedHono = new Hono()
  .use(honoRateLimiter({ windowMs: 60_000, limit: LIMIT, standardHeaders: "draft-7", keyGenerator: () => "one" }))
  .get("/", (context) => context.text("ok"))

/** Each candidate limits an Express app to 100 requests per minute and address, in memory. */
export const comparison: Comparison = {
  features: [
    BUCKET,
    COST,
    OUTCOME,
    ADDRESS,
    PENALTY,
    RESET,
    DRAFT,
    X,
    BOUNDED,
    IN_REDIS,
    IN_POSTGRES,
    OTHERS,
    AWAY,
    ON_EXPRESS,
    ON_FASTIFY,
    ON_HONO,
    PURE,
    BLOCK,
  ],
  operations: [MEMORY, ...(client ? [REDIS] : []), EXPRESS, FASTIFY, HONO],
  candidates: [
    {
      name: "rate-limit",
      packageName: "@outreach/rate-limit",
      code: `import { fixedWindow, keyOfAddress, rateLimiter } from "@outreach/rate-limit"
import { rateLimit } from "@outreach/rate-limit/express"
import { memoryStore } from "@outreach/rate-limit/memory"
export const middleware = rateLimit(rateLimiter(fixedWindow({ limit: 100 }), memoryStore({ now: Date.now })), { key: (request) => keyOfAddress(request.ip) })`,
      has: [
        ...[BUCKET, COST, OUTCOME, ADDRESS, PENALTY, RESET, DRAFT, X, BOUNDED, IN_REDIS, IN_POSTGRES, AWAY],
        ...[ON_EXPRESS, ON_FASTIFY, ON_HONO, PURE],
      ],
      operations: {
        [MEMORY]: () => memory.take(nextKey()),
        ...(client && {
          [REDIS]: (() => {
            const limiter = rateLimiter(tokenBucket({ capacity: LIMIT, refill: "1000 per second" }), redisStore(client))
            return together(() => limiter.take(nextKey()))
          })(),
        }),
        [EXPRESS]: expressCall(limitExpress(memory, { key: ({ ip }) => keyOfAddress(ip) })),
        [FASTIFY]: fastifyCall(fastifyOurs),
        [HONO]: honoCall(limitFetch(memory, { key: () => "one" }, hono.fetch)),
      },
    },
    {
      name: "rate-limiter-flexible",
      packageName: "rate-limiter-flexible",
      // Its README has a hand-written middleware.
      code: `import { RateLimiterMemory } from "rate-limiter-flexible"
const limiter = new RateLimiterMemory({ points: 100, duration: 60 })
export const middleware = (request, response, next) => limiter.consume(request.ip).then(() => next()).catch(() => response.status(429).send("Too Many Requests"))`,
      has: [COST, PENALTY, RESET, IN_REDIS, IN_POSTGRES, OTHERS, AWAY, BLOCK],
      operations: {
        [MEMORY]: () => flexible.consume(nextKey()),
        ...(client && {
          [REDIS]: (() => {
            const limiter = new RateLimiterRedis({ storeClient: client, points: LIMIT, duration: 60 })
            return together(() => limiter.consume(nextKey()))
          })(),
        }),
      },
    },
    {
      name: "express-rate-limit",
      packageName: "express-rate-limit",
      code: `import { rateLimit } from "express-rate-limit"
export const middleware = rateLimit({ windowMs: 60_000, limit: 100, standardHeaders: "draft-8", legacyHeaders: false })`,
      has: [OUTCOME, ADDRESS, RESET, DRAFT, X, AWAY, ON_EXPRESS],
      operations: {
        [EXPRESS]: expressCall(
          expressRateLimit({ windowMs: 60_000, limit: LIMIT, standardHeaders: "draft-8", legacyHeaders: false }),
        ),
      },
    },
    {
      name: "@fastify/rate-limit",
      packageName: "@fastify/rate-limit",
      code: `import rateLimit from "@fastify/rate-limit"
export const limit = (app) => app.register(rateLimit, { max: 100, timeWindow: "1 minute" })`,
      has: [ADDRESS, X, BOUNDED, IN_REDIS, AWAY, ON_FASTIFY],
      operations: { [FASTIFY]: fastifyCall(fastifyTheirs) },
    },
    {
      name: "hono-rate-limiter",
      packageName: "hono-rate-limiter",
      code: `import { rateLimiter } from "hono-rate-limiter"
export const limit = (app) => app.use(rateLimiter({ windowMs: 60_000, limit: 100, keyGenerator: () => "one" }))`,
      has: [RESET, IN_REDIS, ON_HONO],
      operations: { [HONO]: honoCall(limitedHono.fetch) },
    },
  ],
  close: async () => {
    client?.disconnect()
    await server?.remove()
    await Promise.all([fastifyOurs.close(), fastifyTheirs.close()])
  },
}
