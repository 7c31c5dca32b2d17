import { describe, expect, it } from "vitest"
import { type Claim, deduplicate, EventInProgressError, type EventStore } from "../src/deduplicate.ts"

let ids = 0
export const newEvent = (): { readonly event_id: string } => {
  ids += 1
  return { event_id: `evt_${ids.toString(16)}` }
}

export interface StoreSubject {
  readonly kind: string
  /** Creates a store with leases of a minute; `abandon` claims an event as a process that crashed a minute ago. */
  readonly open: () => { readonly store: EventStore; readonly abandon: (eventId: string) => Promise<Claim> }
}

export function describeStore({ kind, open }: StoreSubject): void {
  describe(`deduplicate over ${kind}`, () => {
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
      // The rejected requests settle first; the one that handles the event waits for all of them.
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
      // The first may still finish, and then it counts.
      await store.complete(event.event_id)
      expect((await store.claim(event.event_id)).state).toBe("handled")
    })
  })
}
