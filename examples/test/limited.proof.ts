import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findInstalled } from "@outreach/debian-packages/findProgram"
import { redisServer } from "@outreach/debian-packages/redisServer"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { installProject, missingRegistry, packTarball, run, startServer } from "./exampleProject.ts"

const installed = findInstalled("redis")

describe.skipIf("missing" in installed)(
  "the limited Fastify in examples/limited, as eight processes over Redis",
  () => {
    const redis = redisServer("missing" in installed ? "" : installed.program, ["--appendonly", "yes"])
    let folder: string
    let missing: string | undefined
    let server: Awaited<ReturnType<typeof startServer>> | undefined
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "outreach-limited-"))
      missing = await missingRegistry(folder)
      if (missing !== undefined) return
      await packTarball(folder, "rate-limit")
      const project = await installProject(folder, "limited")
      await run(project, ["npm", "run", "check"])
      await redis.start()
      server = await startServer(project, {
        REDIS_URL: `unix://${redis.socket}`,
        PROCESSES: "8",
        REDIS_TIMEOUT_MS: "5000",
      })
      // Every process connects in its own time, and serves before.
      await vi.waitFor(
        async () => {
          const all = await Promise.all(Array.from({ length: 40 }, () => search("key-of-grace")))
          expect(all.filter(({ headers }) => headers.has("ratelimit"))).toHaveLength(40)
        },
        { timeout: 60_000, interval: 200 },
      )
    })
    afterAll(async () => {
      await server?.stop()
      await redis.remove()
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    })
    beforeEach(({ skip }) => {
      if (missing !== undefined) skip(missing)
    })

    const search = async (key: string) => {
      // A connection of its own, so that any of the processes takes it.
      const response = await fetch(`${server!.url}/search`, {
        headers: { "x-api-key": key, connection: "close" },
        signal: AbortSignal.timeout(60_000),
      })
      return { status: response.status, headers: response.headers, body: await response.text() }
    }
    const send = async (key: string, recipients: number) => {
      const to = Array.from({ length: recipients }, (_, i) => `${i}@example.com`)
      const headers = { "x-api-key": key, "content-type": "application/json" }
      const response = await fetch(`${server!.url}/messages`, { method: "POST", headers, body: JSON.stringify({ to }) })
      return { status: response.status, headers: response.headers, body: await response.json() }
    }

    it("allows an account exactly its limit over all processes, with headers that count down", async () => {
      const all = await Promise.all(Array.from({ length: 400 }, () => search("key-of-ada")))
      const served = all.filter(({ status }) => status === 200)
      expect(served).toHaveLength(100)
      expect(new Set(served.map(({ body }) => JSON.parse(body).process)).size).toBeGreaterThan(1)
      const remaining = served.map(({ headers }) =>
        Number(/^"searches";r=(\d+);t=\d+$/.exec(headers.get("ratelimit")!)![1]),
      )
      expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i))
      const refused = all.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(300)
      for (const { headers, body } of refused) {
        const wait = Number(headers.get("retry-after"))
        expect([wait > 0, wait <= 864]).toEqual([true, true])
        expect(headers.get("ratelimit")).toBe(`"searches";r=0;t=${wait}`)
        expect(headers.get("ratelimit-policy")).toBe('"searches";q=100;w=86400')
        expect(body).toBe("Too Many Requests\n")
      }
      expect((await search("key-of-eve")).status).toBe(401)
    })
    it("counts what a message costs, and says when waiting does not help", async () => {
      expect(await send("key-of-ada", 15)).toMatchObject({ status: 200, body: { sent: true } })
      const later = await send("key-of-ada", 6)
      expect(later).toMatchObject({ status: 429, body: { error: "limit_reached", remaining: 5 } })
      expect(Number(later.headers.get("retry-after"))).toBeGreaterThan(17_000)
      const never = await send("key-of-ada", 21)
      expect(never).toMatchObject({ status: 429, body: { error: "too_many_recipients", remaining: 5 } })
      expect(never.headers.has("retry-after")).toBe(false)
      expect((await send("key-of-ada", 5)).headers.get("ratelimit")).toMatch(/^"messages";r=0;t=/)
    })
    it.each(["SIGTERM", "SIGSTOP"] as const)(
      "searches on and sends nothing while Redis is away by %s, and knows all counts when it is back",
      async (signal) => {
        await redis.signal(signal)
        const uncounted = await search("key-of-ada")
        expect([uncounted.status, uncounted.headers.has("ratelimit")]).toEqual([200, false])
        expect(await send("key-of-grace", 1)).toMatchObject({ status: 503, body: { error: "unavailable" } })
        await (signal === "SIGTERM" ? redis.start() : redis.signal("SIGCONT"))
        // Every process connects again in its own time.
        const statuses = async () =>
          (await Promise.all(Array.from({ length: 40 }, () => search("key-of-ada")))).map((it) => it.status)
        await expect.poll(statuses, { timeout: 60_000 }).toEqual(Array.from({ length: 40 }, () => 429))
        await expect.poll(async () => (await send("key-of-ada", 1)).status, { timeout: 60_000 }).toBe(429)
      },
    )
  },
)
