import { otlpCollector } from "@outreach/testing/otlpCollector"
import { sql } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import type { Effect } from "effect"
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { send } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { settableTime } from "../settableTime.ts"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const api = startApi()
let seeded: Effect.Success<ReturnType<typeof seedMessages>>
beforeAll(async () => {
  seeded = await api().run(seedMessages(1))
})

const CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36"
const clickPath = (destination: string) => links.click(seeded.addressees[0]!, destination)!
const openPath = () => links.open(seeded.addressees[0]!)

const ask = (path: string, { headers, ...init }: Parameters<typeof send>[2] = {}, url = api().url) =>
  send({ url }, path, { ...init, headers: { "User-Agent": CHROME, ...headers } })

/** Waits until a number of hits of a destination (with any query) or of the pixel are stored. Returns them in order of arrival. */
const stored = (destination: string | null, count: number) =>
  eventually(
    () =>
      api().run(sql<{ method: string; address: string; headers: Readonly<Record<string, string>> }>`
        select recipient_id, kind, method, address, headers from hits
        where link is not distinct from ${destination} or link like ${destination} || '?%' order by received_at, id`),
    ({ length }) => length >= count,
  ).then((rows) => {
    expect(rows).toHaveLength(count)
    return rows
  })

const PRIVATE = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex, nofollow",
}

describe("a click", () => {
  it("redirects to its destination, and is stored with its address and headers", async () => {
    const destination = "https://clinic.test/study?a=1&b=%C3%A9#part"
    const { status, headers, body } = await ask(clickPath(destination), { headers: { "Sec-Purpose": "prefetch" } })
    expect([status, headers.get("location"), body.length]).toEqual([302, destination, 0])
    expect(Object.fromEntries(headers)).toMatchObject(PRIVATE)
    const { recipientId } = seeded.addressees[0]!
    expect(await stored(destination, 1)).toEqual([
      {
        recipient_id: recipientId,
        kind: "click",
        method: "GET",
        address: "127.0.0.1",
        headers: { "user-agent": CHROME, "sec-purpose": "prefetch" },
      },
    ])
  })

  it("by HEAD redirects in the same way, and is stored as HEAD", async () => {
    const destination = "https://clinic.test/head"
    const { status, headers } = await ask(clickPath(destination), { method: "HEAD" })
    expect([status, headers.get("location")]).toEqual([302, destination])
    expect((await stored(destination, 1)).map(({ method }) => method)).toEqual(["HEAD"])
  })

  it("redirects despite an appended query, every time, and after its campaign has ended", async () => {
    const destination = "https://clinic.test/query"
    await api().run(sql`update campaigns set status = 'completed', window_end = window_start + interval '1 second'`)
    for (const query of ["", "?utm_source=mail&x=/", ""]) {
      expect((await ask(clickPath(destination) + query)).headers.get("location")).toBe(destination)
    }
    await stored(destination, 3)
  })

  it("stores at most 512 characters of a client header", async () => {
    const destination = "https://clinic.test/long"
    await ask(clickPath(destination), { headers: { "User-Agent": "x".repeat(6000), Purpose: "y".repeat(500) } })
    const [hit] = await stored(destination, 1)
    expect(hit!.headers).toEqual({ "user-agent": "x".repeat(512), purpose: "y".repeat(64) })
  })

  it("with a changed, longer or different link shows a page and doesn't redirect", async () => {
    const path = clickPath("https://clinic.test/guarded")
    const changed = path.slice(0, -1) + (path.endsWith("A") ? "B" : "A")
    const ofOpening = `/l/${openPath().split("/").at(-1)}`
    const others = ["/l/", "/l/a/b/c", "/l/%ZZ", "/l//evil.test", "/l/?url=https://evil.test", "/l/https://evil.test/"]
    for (const target of [changed, `${path}A`, ofOpening, ...others]) {
      const { status, headers, body } = await ask(target)
      expect([status, headers.get("location"), headers.get("content-type")]).toEqual([
        404,
        null,
        "text/html; charset=utf-8",
      ])
      expect(body.toString()).toContain("This link is not valid")
    }
    expect(await stored("https://clinic.test/guarded", 0)).toEqual([])
  })
})

describe("an opening", () => {
  beforeEach(() => api().run(sql`delete from hits where link is null`))

  it("shows the pixel, and is stored", async () => {
    const { status, headers, body } = await ask(openPath())
    expect([status, headers.get("content-type"), body.subarray(0, 6).toString()]).toEqual([200, "image/gif", "GIF89a"])
    expect(Object.fromEntries(headers)).toMatchObject(PRIVATE)
    const head = await ask(openPath(), { method: "HEAD" })
    expect([head.status, head.headers.get("content-length"), head.body.length]).toEqual([200, String(body.length), 0])
    expect((await stored(null, 2)).map(({ method }) => method).sort()).toEqual(["GET", "HEAD"])
  })

  it("at an unknown address shows the pixel too, and is not stored", async () => {
    for (const path of ["/o/", "/o/unknown", `${openPath()}A`, "/o/a/b.gif"]) {
      const { status, headers } = await ask(path)
      expect([status, headers.get("content-type")]).toEqual([200, "image/gif"])
    }
    // Hits are stored in order of arrival.
    await ask(openPath())
    await stored(null, 1)
  })
})

describe("hits", () => {
  it("are served while the database can't store them, and are stored later with their arrival time", async () => {
    const destination = "https://clinic.test/locked"
    const time = settableTime()
    const { url, stop } = await runApi(api().databaseUrl, {}, time.layer)
    await api().whileLocked("hits", async () => {
      for (let i = 0; i < 10; i++) {
        // Each is a different link: at most 20 hits a minute are stored per link.
        const { headers } = await ask(clickPath(`${destination}?${i}`), {}, url)
        expect(headers.get("location")).toBe(`${destination}?${i}`)
      }
      time.now += 3_600_000
    })
    // Before an API stops, it stores the waiting hits.
    await stop()
    await stored(destination, 10)
    const old = await api().run(sql`
      select from hits where link like ${destination} || '?%' and received_at < clock_timestamp() - interval '59 minutes'`)
    // The first one was already being stored when the clock moved.
    expect(old.length).toBeGreaterThanOrEqual(9)
  })

  it("are stored once each although the connections to the database break", async () => {
    const destination = "https://clinic.test/broken"
    for (let i = 0; i < 3; i++) {
      await Promise.all(Array.from({ length: 20 }, () => ask(clickPath(`${destination}?${i}`))))
      await api().run(sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'outreach-api/%' and datname = current_database()`)
    }
    await stored(destination, 60)
  })

  it("come from the address that a trusted proxy names, and from no other", async () => {
    const { url, stop } = await runApi(api().databaseUrl, { TRUST_PROXY: "loopback" })
    onTestFinished(stop)
    const destination = "https://clinic.test/proxied"
    const headers = { "X-Forwarded-For": "40.107.1.2, 198.51.100.7" }
    await ask(clickPath(destination), { headers }, url)
    await ask(clickPath(destination), { headers })
    const addresses = (await stored(destination, 2)).map(({ address }) => address)
    expect(addresses.sort()).toEqual(["127.0.0.1", "198.51.100.7"])
  })

  it("leave no part of their links in the log or in a trace", async () => {
    const otlp = await otlpCollector()
    const { url, log, stop } = await runApi(api().databaseUrl, {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_TRACES_SAMPLER_ARG: "1",
    })

    const unsubscribe = links.unsubscribe(seeded.addressees[0]!)
    const paths = [clickPath("https://clinic.test/traced"), openPath(), unsubscribe]
    for (const path of paths) await ask(path, {}, url)
    await ask(unsubscribe, { method: "POST" }, url)
    await ask("/v1/health", {}, url)
    await stop()
    // The process has ended and exported everything.
    const exported = otlp.kept.map(({ body }) => body).join()
    expect(exported).toContain("GET /v1/health")
    for (const path of paths) expect(exported + log.text).not.toContain(path.split("/").at(-1)!.slice(0, 40))
  })
})
