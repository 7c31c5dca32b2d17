import { createHash } from "node:crypto"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { redisServer } from "@outreach/debian-packages/redisServer"
import { loopbackAddress } from "@outreach/embedded-postgres/loopbackAddress"
import { fixedWindow, rateLimiter, tokenBucket } from "@outreach/rate-limit"
import { type RedisClient, redisStore } from "@outreach/rate-limit/redis"
import { Cluster, Redis } from "ioredis"
import { createClient, createCluster } from "redis"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { describeStore, newKey } from "./describeStore.ts"

const redis = findProgram("redis")

describe.skipIf("missing" in redis)("Redis", () => {
  const server = redisServer("missing" in redis ? "" : redis.program)
  const nodeRedis = createClient({ socket: { path: server.socket, tls: false }, disableOfflineQueue: true })
  const ioredis = new Redis({ path: server.socket, lazyConnect: true, enableOfflineQueue: false })
  // A client reports on its own that the connection is lost.
  for (const client of [nodeRedis, ioredis]) client.on("error", () => {})

  beforeAll(async () => {
    await server.start()
    await Promise.all([nodeRedis.connect(), ioredis.connect()])
  })
  // A client may still be connecting again after the server was away in an earlier test.
  beforeEach(() => vi.waitFor(() => Promise.all([nodeRedis.ping(), ioredis.ping()]), { timeout: 60_000 }))
  afterAll(async () => {
    ioredis.disconnect()
    nodeRedis.destroy()
    await server.remove()
  })

  const clients: readonly (readonly [string, RedisClient])[] = [
    ["redis", nodeRedis],
    ["ioredis", ioredis],
    ["a function", (...command) => nodeRedis.sendCommand(command)],
  ]
  for (const [name, client] of clients) describeStore(`Redis by ${name}`, (now) => redisStore(client, { now }))

  it("counts by the server's clock by default", async () => {
    const before = Date.now() / 1000
    const { reset } = await rateLimiter(tokenBucket({ capacity: 1, refill: "1 per hour" }), redisStore(nodeRedis)).take(
      newKey(),
    )
    expect(reset).toBeGreaterThanOrEqual(before + 3600 - 1)
    expect(reset).toBeLessThanOrEqual(Date.now() / 1000 + 3600 + 1)
  })

  it("keeps one key for each, which expires when all of its limit is there again", async () => {
    const policy = tokenBucket({ capacity: 10, refill: "1 per minute" })
    const limiter = rateLimiter(policy, redisStore(nodeRedis, { prefix: "limits of mail:" }))
    const key = newKey()
    await limiter.take(key)
    expect(await ioredis.keys(`*${key}`)).toEqual([`limits of mail:${policy.id}:${key}`])
    const [left] = [await ioredis.pttl(`limits of mail:${policy.id}:${key}`)]
    expect([left > 0, left <= 600_000]).toEqual([true, true])
  })

  it("doesn't store keys that only check their limit", async () => {
    const limiter = rateLimiter(fixedWindow({ limit: 1 }), redisStore(nodeRedis))
    const key = newKey()
    await limiter.take(key, { cost: 0 })
    expect(await ioredis.keys(`*${key}`)).toEqual([])
  })

  it("sends its script by its digest, and whole to a server that does not have it", async () => {
    const sent: string[][] = []
    const limiter = rateLimiter(
      fixedWindow({ limit: 9 }),
      redisStore((...command) => {
        sent.push(command)
        return nodeRedis.sendCommand(command)
      }),
    )
    const key = newKey()
    await ioredis.script("FLUSH")
    expect((await limiter.take(key)).remaining).toBe(8)
    expect((await limiter.take(key)).remaining).toBe(7)
    expect(sent.map(([command]) => command)).toEqual(["EVALSHA", "EVAL", "EVALSHA"])
    expect(sent[0]![1]).toBe(createHash("sha1").update(sent[1]![1]!).digest("hex"))
  })

  it("throws the server's error", async () => {
    const policy = fixedWindow({ limit: 1 })
    await ioredis.lpush(`rate-limit:${policy.id}:list`, "x")
    await expect(rateLimiter(policy, redisStore(nodeRedis)).take("list")).rejects.toThrow("WRONGTYPE")
  })

  it.each(clients)("fails or allows while Redis is away, and counts again when it is back: %s", async (_, client) => {
    const policy = fixedWindow({ limit: 1, windowSeconds: 86_400 })
    const strict = rateLimiter(policy, redisStore(client))
    const errors: unknown[] = []
    const lenient = rateLimiter(policy, redisStore(client), {
      whenAway: "allow",
      onAway: (error) => errors.push(error),
    })
    const key = newKey()
    await expect.poll(() => strict.take(key).catch(() => null), { timeout: 60_000 }).toMatchObject({ allowed: true })
    await server.signal("SIGKILL")
    await expect(strict.take(key)).rejects.toThrow()
    expect(await lenient.take(key)).toMatchObject({ allowed: true, counted: false })
    expect(errors).toHaveLength(1)
    await server.start()
    await expect.poll(() => strict.take(key).catch(() => null), { timeout: 60_000 }).toMatchObject({ allowed: true })
    expect(await lenient.take(key)).toMatchObject({ allowed: false, counted: true })
  })
})

describe.skipIf("missing" in redis)("a cluster of Redis", () => {
  const [host, port] = [loopbackAddress(), 7000]
  const options = ["--bind", host, "--port", `${port}`, "--cluster-enabled", "yes", "--cluster-announce-ip", host]
  const server = redisServer("missing" in redis ? "" : redis.program, options)
  const nodeRedis = createCluster({ rootNodes: [{ url: `redis://${host}:${port}` }] })
  const ioredis = new Cluster([{ host, port }], { lazyConnect: true })

  beforeAll(async () => {
    await server.start()
    const node = new Redis({ path: server.socket })
    await node.cluster("ADDSLOTSRANGE", 0, 16_383)
    await vi.waitFor(async () => expect(await node.cluster("INFO")).toContain("cluster_state:ok"), { timeout: 60_000 })
    node.disconnect()
    await Promise.all([nodeRedis.connect(), ioredis.connect()])
  })
  afterAll(async () => {
    nodeRedis.destroy()
    ioredis.disconnect()
    await server.remove()
  })

  const clients: readonly (readonly [string, RedisClient])[] = [
    ["redis", (...command) => nodeRedis.sendCommand(command[3], false, command)],
    ["ioredis", ioredis],
  ]
  for (const [name, client] of clients) describeStore(`a cluster by ${name}`, (now) => redisStore(client, { now }))
})
