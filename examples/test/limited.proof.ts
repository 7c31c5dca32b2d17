import { findProgram } from "@outreach/debian-packages/findProgram"
import { redisServer } from "@outreach/debian-packages/redisServer"
import { afterAll, describe, expect, it, vi } from "vitest"
import { projectServer, run, workspaceWith } from "./exampleProject.ts"

const installed = findProgram("redis")

describe.skipIf("missing" in installed)(
  "the limited Fastify in examples/limited, as eight processes over Redis",
  () => {
    const redis = redisServer("missing" in installed ? "" : installed.program, ["--appendonly", "yes"])
    afterAll(() => redis.remove())
    const server = projectServer(workspaceWith("rate-limit"), "limited", {
      prepare: async (project) => {
        await run(project, ["npm", "run", "check"])
        await redis.start()
        return { REDIS_URL: `unix://${redis.socket}`, PROCESSES: "8", REDIS_TIMEOUT_MS: "5000" }
      },
    })

    const search = async (key: string) => {
      // A new connection, so that any of the processes accepts it.
      const response = await fetch(`${server.url}/search`, {
        headers: { "x-api-key": key, connection: "close" },
        signal: AbortSignal.timeout(60_000),
      })
      return { status: response.status, headers: response.headers, body: await response.text() }
    }
    const searchOften = (key: string, count: number) => Promise.all(Array.from({ length: count }, () => search(key)))
    /** Requests in groups, so that Redis responds within the timeout on a busy machine. */
    const searchInGroups = async (key: string, groups: number, size: number) => {
      const found: Array<Awaited<ReturnType<typeof search>>> = []
      for (const _ of Array(groups)) found.push(...(await searchOften(key, size)))
      return found
    }
    const logIn = async (password: string) => {
      const headers = { "content-type": "application/json", connection: "close" }
      const body = JSON.stringify({ account: "ada", password })
      return (await fetch(`${server.url}/logins`, { method: "POST", headers, body })).status
    }
    const send = async (key: string, recipients: number) => {
      const to = Array.from({ length: recipients }, (_, i) => `${i}@example.com`)
      const headers = { "x-api-key": key, "content-type": "application/json" }
      const response = await fetch(`${server.url}/messages`, { method: "POST", headers, body: JSON.stringify({ to }) })
      return { status: response.status, headers: response.headers, body: await response.json() }
    }

    it("keeps the limits of an account over all processes, also while Redis is away or silent", async () => {
      // Each process serves before it has connected to Redis.
      await vi.waitFor(
        async () => {
          const all = await searchOften("key-of-grace", 40)
          expect(all.filter(({ headers }) => headers.has("ratelimit"))).toHaveLength(40)
        },
        { timeout: 60_000, interval: 200 },
      )
      // A process that hasn't connected yet, or gets no response from Redis in time, serves without a count.
      const all = (await searchInGroups("key-of-ada", 10, 40)).filter(({ headers }) => headers.has("ratelimit"))
      const served = all.filter(({ status }) => status === 200)
      expect(served).toHaveLength(100)
      const remaining = served.map(({ headers }) =>
        Number(/^"searches";r=(\d+);t=\d+$/.exec(headers.get("ratelimit")!)![1]),
      )
      expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i))
      const refused = all.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(all.length - 100)
      for (const { headers, body } of refused) {
        const wait = Number(headers.get("retry-after"))
        expect([wait > 0, wait <= 864]).toEqual([true, true])
        expect(headers.get("ratelimit")).toBe(`"searches";r=0;t=${wait}`)
        expect(headers.get("ratelimit-policy")).toBe('"searches";q=100;w=86400')
        expect(body).toBe("Too Many Requests\n")
      }
      expect((await search("key-of-eve")).status).toBe(401)

      // A message costs one unit per recipient.
      expect(await send("key-of-ada", 15)).toMatchObject({ status: 200, body: { sent: true } })
      const later = await send("key-of-ada", 6)
      expect(later).toMatchObject({ status: 429, body: { error: "limit_reached", remaining: 5 } })
      expect(Number(later.headers.get("retry-after"))).toBeGreaterThan(17_000)
      const never = await send("key-of-ada", 21)
      expect(never).toMatchObject({ status: 429, body: { error: "too_many_recipients", remaining: 5 } })
      expect(never.headers.has("retry-after")).toBe(false)
      expect((await send("key-of-ada", 5)).headers.get("ratelimit")).toMatch(/^"messages";r=0;t=/)

      for (let i = 0; i < 10; i++) expect(await logIn("difference")).toBe(200)
      const guesses = await Promise.all(Array.from({ length: 12 }, () => logIn("engine")))
      // Redis may give the last right password back after the first guesses.
      const wrong = async () => guesses.push(await logIn("engine")) && guesses.filter((status) => status === 401).length
      await expect.poll(wrong, { timeout: 60_000 }).toBe(5)
      expect(await logIn("difference")).toBe(429)

      for (const signal of ["SIGTERM", "SIGSTOP"] as const) {
        await redis.signal(signal)
        const uncounted = await search("key-of-ada")
        expect([uncounted.status, uncounted.headers.has("ratelimit")]).toEqual([200, false])
        expect(await send("key-of-grace", 1)).toMatchObject({ status: 503, body: { error: "unavailable" } })
        await (signal === "SIGTERM" ? redis.start() : redis.signal("SIGCONT"))
        // Each process reconnects independently.
        const statuses = async () => new Set((await searchOften("key-of-ada", 40)).map(({ status }) => status))
        await expect.poll(statuses, { timeout: 60_000 }).toEqual(new Set([429]))
        await expect.poll(async () => (await send("key-of-ada", 1)).status, { timeout: 60_000 }).toBe(429)
      }
    })
  },
)
