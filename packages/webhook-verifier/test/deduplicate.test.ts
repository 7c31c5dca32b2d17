import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Pool } from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type Claim,
  deduplicate,
  EventInProgressError,
  type EventStore,
  memoryStore,
  postgresStore,
} from "../src/deduplicate.ts"

const database = testDatabase({
  name: "deduplicate",
  sources: [new URL("../src/postgresStore.ts", import.meta.url)],
  migrate: async (url) => {
    const pool = new Pool({ connectionString: url })
    await postgresStore(pool).createTable()
    // Again, as every start of a process does.
    await postgresStore(pool).createTable()
    await pool.end()
  },
})
let pool: Pool
beforeAll(() => {
  pool = new Pool({ connectionString: database(), max: 20 })
})
afterAll(() => pool.end())

let ids = 0
const newEvent = () => {
  ids += 1
  return { event_id: `evt_${ids.toString(16)}` }
}

interface Subject {
  readonly kind: string
  /** Creates a store whose leases last a minute; `abandon` claims an event as a process does that crashes a minute ago. */
  readonly open: () => { readonly store: EventStore; readonly abandon: (eventId: string) => Promise<Claim> }
}

const subjects: readonly Subject[] = [
  {
    kind: "memory",
    open: () => {
      let now = 0
      const store = memoryStore({ leaseSeconds: 60, now: () => now })
      const abandon = async (eventId: string) => {
        const claim = await store.claim(eventId)
        now += 60
        return claim
      }
      return { store, abandon }
    },
  },
  {
    kind: "PostgreSQL",
    open: () => ({
      store: postgresStore(pool, { leaseSeconds: 60 }),
      abandon: (eventId) => postgresStore(pool, { leaseSeconds: 0 }).claim(eventId),
    }),
  },
]

describe.each(subjects)("deduplicate over $kind", ({ open }) => {
  it("lets the handler see an event once", async () => {
    const { store } = open()
    const seen: unknown[] = []
    const handle = deduplicate(store, (event: { event_id: string }) => seen.push(event))
    const event = newEvent()
    for (let copy = 0; copy < 3; copy++) await handle(event)
    const other = newEvent()
    await handle(other)
    expect(seen).toEqual([event, other])
  })
  it("hands an event to one of many that come at once, and sends the others away until it is handled", async () => {
    const { store } = open()
    let calls = 0
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const handle = deduplicate(store, async () => {
      calls += 1
      await finished
    })
    const event = newEvent()
    const all = Array.from({ length: 20 }, () =>
      handle(event).then(
        () => "handled",
        (error: unknown) => error,
      ),
    )
    // The first to settle are those sent away; the one that handles waits for all of them.
    let refused = 0
    for (const one of all)
      void one.then((outcome) => {
        if (outcome instanceof EventInProgressError) refused += 1
        if (refused === 19) finish()
      })
    const outcomes = await Promise.all(all)
    expect(outcomes.filter((outcome) => outcome === "handled")).toHaveLength(1)
    expect(calls).toBe(1)
    await handle(event)
    expect(calls).toBe(1)
  })
  it("handles an event again that failed before", async () => {
    const { store } = open()
    let calls = 0
    const handle = deduplicate(store, () => {
      calls += 1
      if (calls === 1) throw new Error("down")
    })
    const event = newEvent()
    await expect(handle(event)).rejects.toThrow("down")
    await handle(event)
    await handle(event)
    expect(calls).toBe(2)
  })
  it("shows the handler's own failure, though the claim cannot be given back", async () => {
    const { store } = open()
    const broken: EventStore = { ...store, release: () => Promise.reject(new Error("no store")) }
    const handle = deduplicate(broken, () => Promise.reject(new Error("down")))
    await expect(handle(newEvent())).rejects.toThrow("down")
  })
  it("handles an event again whose handler crashed, once its lease ended", async () => {
    const { store, abandon } = open()
    const event = newEvent()
    const lost = await abandon(event.event_id)
    expect(lost.state).toBe("claimed")
    let calls = 0
    const handle = deduplicate(store, () => {
      calls += 1
    })
    await handle(event)
    await handle(event)
    expect(calls).toBe(1)
  })
  it("does not let a claim that was lost give back the claim of another", async () => {
    const { store, abandon } = open()
    const event = newEvent()
    const lost = await abandon(event.event_id)
    expect((await store.claim(event.event_id)).state).toBe("claimed")
    await store.release(event.event_id, lost.state === "claimed" ? lost.claim : "")
    expect((await store.claim(event.event_id)).state).toBe("in_progress")
    // The first may finish all the same: then it was handled.
    await store.complete(event.event_id)
    expect((await store.claim(event.event_id)).state).toBe("handled")
  })
})

describe("the store in PostgreSQL", () => {
  it("forgets what was handled long ago, and nothing that waits", async () => {
    const store = postgresStore(pool)
    const [handled, waiting] = [newEvent().event_id, newEvent().event_id]
    for (const id of [handled, waiting]) await store.claim(id)
    await store.complete(handled)
    await store.forget(3600)
    expect((await store.claim(handled)).state).toBe("handled")
    await store.forget(-1)
    expect((await store.claim(handled)).state).toBe("claimed")
    expect((await store.claim(waiting)).state).toBe("in_progress")
  })
  it("keeps its events in the table it is told, and takes no name that would need quotes", async () => {
    await pool.query("create schema webhooks")
    const store = postgresStore(pool, { table: "webhooks.seen" })
    await store.createTable()
    await store.complete("evt_1")
    expect((await store.claim("evt_1")).state).toBe("claimed")
    expect((await pool.query("select event_id from webhooks.seen")).rows).toEqual([{ event_id: "evt_1" }])
    for (const table of ["", "a b", 'a"', "a.b.c", "a;drop table b", "A"]) {
      expect(() => postgresStore(pool, { table })).toThrow(RangeError)
    }
  })
})

describe("the store in memory", () => {
  it("forgets the oldest events beyond its capacity", async () => {
    const store = memoryStore({ capacity: 2 })
    for (const id of ["evt_1", "evt_2", "evt_3"]) {
      await store.claim(id)
      await store.complete(id)
    }
    expect((await store.claim("evt_3")).state).toBe("handled")
    expect((await store.claim("evt_1")).state).toBe("claimed")
  })
})
