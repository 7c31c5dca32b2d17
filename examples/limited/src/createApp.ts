import { keyOfAddress, rateLimiter, tokenBucket } from "@outreach/rate-limit"
import { rateLimit } from "@outreach/rate-limit/fastify"
import { redisStore } from "@outreach/rate-limit/redis"
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify"
import { createClient } from "redis"

const ACCOUNTS = new Map([
  ["key-of-ada", "ada"],
  ["key-of-grace", "grace"],
])

const PASSWORDS = new Map([
  ["ada", "difference"],
  ["grace", "compiler"],
])

declare module "fastify" {
  interface FastifyRequest {
    account: string
  }
}

export function createApp(redisUrl: string, redisTimeoutMs: number): FastifyInstance {
  const app = Fastify({ logger: { level: "warn" } })

  // Commands fail while Redis is unavailable instead of waiting; the client reconnects.
  const redis = createClient({ url: redisUrl, disableOfflineQueue: true })
  redis.on("error", (error) => app.log.warn(error))
  void redis.connect().catch((error) => app.log.warn(error))
  app.addHook("onClose", () => redis.destroy())

  const store = redisStore(redis, { prefix: "limited:" })
  const signal = () => AbortSignal.timeout(redisTimeoutMs)
  const key = (request: FastifyRequest) => request.account

  // Reads are allowed while Redis is unavailable; paid operations aren't.
  const searches = rateLimiter(tokenBucket({ name: "searches", capacity: 100, refill: "100 per day" }), store, {
    signal,
    whenAway: "allow",
    onAway: (error) => app.log.warn(error, "a search was not counted"),
  })
  const messages = rateLimiter(tokenBucket({ name: "messages", capacity: 20, refill: "5 per day" }), store, { signal })

  const logins = rateLimiter(tokenBucket({ name: "logins", capacity: 5, refill: "5 per hour" }), store, { signal })

  app.get("/", () => "ok")

  // Five wrong passwords per address. Right ones don't count.
  app.post<{ Body: { account: string; password: string } }>(
    "/logins",
    {
      schema: {
        body: {
          type: "object",
          required: ["account", "password"],
          properties: { account: { type: "string" }, password: { type: "string" } },
        },
      },
      onRequest: rateLimit(logins, { key: ({ ip }) => keyOfAddress(ip), counts: (status) => status === 401 }),
    },
    ({ body: { account, password } }, reply) =>
      PASSWORDS.get(account) === password ? { account } : reply.code(401).send({ error: "wrong_password" }),
  )

  app.register(async (limited) => {
    limited.decorateRequest("account", "")
    limited.addHook("onRequest", async (request, reply) => {
      const account = ACCOUNTS.get(String(request.headers["x-api-key"]))
      if (account === undefined) return reply.code(401).send({ error: "unknown_key" })
      request.account = account
    })
    limited.setErrorHandler((error, request, reply) => {
      request.log.error(error)
      return reply.code(503).send({ error: "unavailable" })
    })

    limited.get("/search", { onRequest: rateLimit(searches, { key }) }, () => ({ found: [], process: process.pid }))

    // A message costs one unit per recipient, known after the body was read.
    limited.post(
      "/messages",
      {
        schema: {
          body: {
            type: "object",
            required: ["to"],
            properties: { to: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 100 } },
          },
        },
        preHandler: rateLimit(messages, {
          key,
          cost: (request: FastifyRequest) => (request.body as { to: string[] }).to.length,
          refuse: ({ retryAfter, remaining }, _request, reply) =>
            reply.code(429).send({ error: retryAfter === null ? "too_many_recipients" : "limit_reached", remaining }),
        }),
      },
      () => ({ sent: true }),
    )
  })
  return app
}
