import { eventExamples, type FeedEvent, type List } from "@outreach/contract"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ApiError } from "../src/ApiError.ts"
import { createClient } from "../src/createClient.ts"
import { type Checkpoint, type EventBatch, syncEvents } from "../src/syncEvents.ts"
import { errorReply } from "./errorReply.ts"
import { type Asked, startServer } from "./startServer.ts"

const START: Checkpoint = { since: "2026-01-01T00:00:00.000000Z" }
const OVERLAP = 5
const MICROSECONDS = 1_000_000

const cursorRefused = new ApiError({
  status: 400,
  type: "invalid_request_error",
  code: "INVALID_PARAMETER",
  message: "",
  requestId: null,
  retryAfter: null,
  details: { parameter: "cursor" },
  errors: [],
  docUrl: null,
})

/** Events while a partner reads. */
const micros = (seconds: number) => fc.integer({ min: 0, max: seconds * MICROSECONDS })
const happening = fc.oneof(
  fc.record({ kind: fc.constant("publish" as const), count: fc.integer({ min: 1, max: 9 }), after: micros(9) }),
  // As after a failover between two runs: an event with a timestamp before those already read.
  fc.record({ kind: fc.constant("publish late" as const), behind: micros(OVERLAP) }),
  fc.record({ kind: fc.constant("read" as const), batches: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("change the key of cursors" as const) }),
  fc.record({ kind: fc.constant("crash" as const), stored: fc.boolean() }),
)

/** A service's feed, and a partner that stores the events of each batch together with the checkpoint, despite failures. */
function world(limit: number) {
  const feed: FeedEvent[] = []
  let head = 0
  let generation = 0
  let stored: readonly string[] = []
  let checkpoint = START

  const read = async ({ since, cursor }: { since: string; cursor: string | undefined }) => {
    const [made, position] = cursor?.split("|") ?? []
    if (made !== undefined && made !== String(generation)) throw cursorRefused
    const page = pageOf(feed, { since, cursor: position, limit })
    return page.next_cursor === null ? page : { ...page, next_cursor: `${generation}|${page.next_cursor}` }
  }
  const work = { everySeconds: null, overlapSeconds: OVERLAP, signal: undefined, sleep: async () => {}, read }
  // The stored checkpoint is text.
  const begin = () => syncEvents({ ...work, checkpoint: JSON.parse(JSON.stringify(checkpoint)) })
  let reading = begin()
  const store = ({ events, checkpoint: reached }: EventBatch) => {
    stored = [...stored, ...events.map(({ event_id }) => event_id)]
    checkpoint = reached
  }
  const publish = (microseconds: number) => feed.push(sentEvent(feed.length, microseconds))

  return {
    feed,
    stored: () => stored,
    checkpoint: () => checkpoint,
    publish: (count: number, after: number) => {
      head += after
      for (let i = 0; i < count; i++) publish(head)
    },
    publishLate: (behind: number) => publish(Math.max(0, head - behind)),
    changeKey: () => {
      generation++
    },
    read: async (batches: number) => {
      for (let i = 0; i < batches; i++) {
        const { value, done } = await reading.next()
        if (done) reading = begin()
        else store(value)
      }
    },
    crash: async (afterStoring: boolean) => {
      const { value } = await reading.next()
      if (value !== undefined && afterStoring) store(value)
      reading = begin()
    },
    finishWalk: async () => {
      for await (const batch of reading) store(batch)
      reading = begin()
    },
  }
}

describe("a reconciliation", () => {
  it("loses and repeats no events, even after crashes, late events and invalidated cursors", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(happening, { maxLength: 40 }),
        async (limit, happenings) => {
          const { feed, stored, checkpoint, ...acts } = world(limit)
          for (const happening of happenings) {
            if (happening.kind === "publish") acts.publish(happening.count, happening.after)
            else if (happening.kind === "publish late") {
              await acts.finishWalk()
              acts.publishLate(happening.behind)
            } else if (happening.kind === "read") await acts.read(happening.batches)
            else if (happening.kind === "crash") await acts.crash(happening.stored)
            else acts.changeKey()
          }
          await acts.finishWalk()
          await acts.finishWalk()
          expect([...stored()].sort()).toEqual(feed.map(({ event_id }) => event_id))
          // It keeps only the events of the overlap.
          const newest = Math.max(...feed.map(({ emitted_at }) => Date.parse(emitted_at)))
          const kept = Object.values(checkpoint().seen ?? {})
          expect(kept.every((at) => Date.parse(at) >= newest - OVERLAP * 1000 - 1)).toBe(true)
        },
      ),
    )
  })

  it("requests no events before the given time, with any UTC offset", async () => {
    const asked: string[] = []
    const feed = [sentEvent(1, 0), sentEvent(2, 3 * MICROSECONDS), sentEvent(3, 60 * MICROSECONDS)]
    const since = "2026-01-01T02:00:02+02:00"
    const read = async (place: { since: string; cursor: string | undefined }) => {
      asked.push(place.since)
      return pageOf(feed, { ...place, since: new Date(place.since).toISOString(), limit: 1 })
    }
    const all: EventBatch[] = []
    const work = { everySeconds: null, overlapSeconds: OVERLAP, signal: undefined, sleep: async () => {}, read }
    for await (const batch of syncEvents({ ...work, checkpoint: { since } })) all.push(batch)
    expect(all.map(({ events }) => events.length)).toEqual([1, 1])
    expect(all.map(({ checkpoint }) => checkpoint.since)).toEqual([since, "2026-01-01T00:00:55.000000Z"])
    expect(asked).toEqual([since, since])
  })
})

/** A service with a growing feed. */
async function startFeed(feed: readonly FeedEvent[], refuse: (asked: Asked, count: number) => boolean = () => false) {
  return startServer((asked, count) => {
    if (refuse(asked, count)) return errorReply("INVALID_PARAMETER", { details: { parameter: "cursor" } })
    const { searchParams } = new URL(asked.url, "http://service.test")
    const [since, cursor, limit] = ["since", "cursor", "limit"].map((name) => searchParams.get(name) ?? undefined)
    return { status: 200, body: pageOf(feed, { since: since!, cursor, limit: Number(limit) }) }
  })
}

describe("sync.events", () => {
  it("looks again every 15 minutes until its signal aborts", async () => {
    const feed = [sentEvent(1, 0)]
    const { baseUrl, asked } = await startFeed(feed)
    const controller = new AbortController()
    const waits: number[] = []
    const sleep = async (milliseconds: number, signal: AbortSignal | undefined) => {
      waits.push(milliseconds)
      signal?.throwIfAborted()
      feed.push(sentEvent(feed.length + 1, feed.length * 900 * MICROSECONDS))
    }
    const client = createClient({ apiKey: "key", baseUrl, sleep })
    const ids: string[] = []
    const reading = async () => {
      for await (const { events } of client.sync.events({ checkpoint: START, signal: controller.signal })) {
        ids.push(...events.map(({ event_id }) => event_id))
        if (ids.length === 4) controller.abort(new Error("enough"))
      }
    }
    await expect(reading()).rejects.toThrow("enough")
    expect(ids).toEqual(feed.map(({ event_id }) => event_id))
    expect(waits).toEqual([900_000, 900_000, 900_000, 900_000])
    expect(asked).toHaveLength(4)
  })

  it("continues from its checkpoint when a cursor is rejected", async () => {
    const feed = [1, 2, 3, 4, 5].map((number) => sentEvent(number, number * 60 * MICROSECONDS))
    const { baseUrl, asked, client } = await startFeed(feed, (_, count) => count === 3)
    const batches = await Array.fromAsync(client.sync.events({ checkpoint: START, everySeconds: null, limit: 2 }))
    expect(batches.flatMap(({ events }) => events)).toEqual(feed)
    const sinces = asked.map(({ url }) => new URL(url, baseUrl).searchParams.get("since"))
    expect(sinces).toEqual([START.since, START.since, START.since, "2026-01-01T00:03:55.000000Z"])
  })

  it("throws when the same cursor is rejected again, instead of retrying forever", async () => {
    const feed = [1, 2, 3].map((number) => sentEvent(number, number))
    const { asked, client } = await startFeed(feed, ({ url }) => url.includes("cursor="))
    const read = Array.fromAsync(client.sync.events({ checkpoint: START, everySeconds: null, limit: 1 }))
    await expect(read).rejects.toMatchObject({ code: "INVALID_PARAMETER", details: { parameter: "cursor" } })
    expect(asked).toHaveLength(4)
  })

  it("rejects an overlap that is negative or not a whole number of seconds", () => {
    const client = createClient({ apiKey: "key", baseUrl: "https://api.test" })
    for (const overlapSeconds of [-1, 0.5, Number.NaN]) {
      expect(() => client.sync.events({ checkpoint: START, overlapSeconds })).toThrow(RangeError)
    }
  })
})

const positionOf = ({ emitted_at, event_id }: FeedEvent) => `${emitted_at} ${event_id}`

/** Returns a page of a feed like the service: ordered by (`emitted_at`, `event_id`), from `since` or after a cursor. */
function pageOf(
  feed: readonly FeedEvent[],
  { since, cursor, limit }: { readonly since: string; readonly cursor: string | undefined; readonly limit: number },
): List<FeedEvent> {
  const rows = feed
    .filter((event) => (cursor === undefined ? event.emitted_at >= since : positionOf(event) > cursor))
    .sort((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1))
  const data = rows.slice(0, limit)
  const next_cursor = rows.length > limit ? positionOf(data.at(-1)!) : null
  return { object: "list", livemode: false, data, has_more: next_cursor !== null, next_cursor, url: "" }
}

/** Creates an `outreach.email_sent` event with a number as its id, emitted this many microseconds after the start of 2026. */
function sentEvent(number: number, microseconds: number): FeedEvent {
  const whole = new Date(Date.UTC(2026, 0, 1) + Math.floor(microseconds / 1e6) * 1000).toISOString().slice(0, 19)
  return {
    ...eventExamples["outreach.email_sent"],
    event_id: `evt_${number.toString(16).padStart(32, "0")}`,
    emitted_at: `${whole}.${String(microseconds % 1e6).padStart(6, "0")}Z`,
  }
}
