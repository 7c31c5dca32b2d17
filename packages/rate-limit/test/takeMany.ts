import { once } from "node:events"
import { fixedWindow, type RateLimitStore, rateLimiter, tokenBucket } from "@outreach/rate-limit"
import { postgresStore } from "@outreach/rate-limit/postgres"
import { redisStore } from "@outreach/rate-limit/redis"
import { Pool } from "pg"
import { createClient } from "redis"

// A process that takes from one key as quickly as it can, once it is told to, and prints how often it was allowed.

const [kind, address, algorithm, limit, times, cost] = process.argv.slice(2) as [
  "redis" | "postgres",
  string,
  "fixedWindow" | "tokenBucket",
  ...string[],
]

async function open(): Promise<{ store: RateLimitStore; close: () => unknown }> {
  if (kind === "postgres") {
    const pool = new Pool({ connectionString: address, max: 5 })
    return { store: postgresStore(pool), close: () => pool.end() }
  }
  const client = createClient({ socket: { path: address, tls: false } })
  await client.connect()
  return { store: redisStore(client), close: () => client.destroy() }
}

// The window, and a token, take longer than any run.
const policy =
  algorithm === "fixedWindow"
    ? fixedWindow({ limit: Number(limit), windowSeconds: 5e9 })
    : tokenBucket({ capacity: Number(limit), refill: "1 per 1000 days" })
const { store, close } = await open()
const limiter = rateLimiter(policy, store)
await limiter.take("warm up", { cost: 0 })
process.stdout.write("ready\n")
await once(process.stdin, "data")
const decisions = await Promise.all(
  Array.from({ length: Number(times) }, () => limiter.take("key", { cost: Number(cost) })),
)
process.stdout.write(`${decisions.filter(({ allowed }) => allowed).length}\n`)
await close()
process.exit()
