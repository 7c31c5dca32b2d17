import { findProgram } from "@outreach/debian-packages/findProgram"
import { redisServer } from "@outreach/debian-packages/redisServer"
import { Redis } from "ioredis"
import { createClient } from "redis"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RedisClient, redisStore } from "../src/deduplicate.ts"
import { describeStore, newEvent } from "./describeStore.ts"

const redis = findProgram("redis")

describe.skipIf("missing" in redis)("a store in Redis", () => {
  const server = redisServer("missing" in redis ? "" : redis.program)
  const { socket } = server
  const nodeRedis = createClient({ socket: { path: socket, tls: false } })
  const ioredis = new Redis({ path: socket, lazyConnect: true })

  beforeAll(async () => {
    await server.start()
    await Promise.all([nodeRedis.connect(), ioredis.connect()])
  })
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
  for (const [name, client] of clients) {
    describeStore({
      kind: `Redis by ${name}`,
      open: () => {
        const store = redisStore(client, { leaseSeconds: 60 })
        const abandon = async (eventId: string) => {
          const claim = await store.claim(eventId)
          await ioredis.pexpire(`outreach:webhooks:${eventId}`, 0)
          return claim
        }
        return { store, abandon }
      },
    })
  }

  it("keeps each event under one key, which expires after the lease, or after the time it is remembered", async () => {
    const store = redisStore(nodeRedis, { prefix: "seen:", leaseSeconds: 60, rememberSeconds: 1000 })
    const { event_id } = newEvent()
    await store.claim(event_id)
    const claimed = await ioredis.pttl(`seen:${event_id}`)
    expect([claimed > 0, claimed <= 60_000]).toEqual([true, true])
    await store.complete(event_id)
    const handled = await ioredis.pttl(`seen:${event_id}`)
    expect([handled > 60_000, handled <= 1_000_000]).toEqual([true, true])
    expect(await ioredis.keys(`*${event_id}`)).toEqual([`seen:${event_id}`])
  })

  it("rejects a lease or a remember time that is not a positive number of seconds", () => {
    for (const seconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => redisStore(nodeRedis, { leaseSeconds: seconds })).toThrow(/^leaseSeconds must be/)
      expect(() => redisStore(nodeRedis, { rememberSeconds: seconds })).toThrow(/^rememberSeconds must be/)
    }
  })
})
