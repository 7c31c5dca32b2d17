import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { Outcome, OwnedEndpoint, SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import type { DeliveryReason } from "@outreach/domain/deliveries/settleAttempt"
import type { DeliveryId, EventId, OrganizationId } from "@outreach/domain/Identifier"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import {
  type Call,
  CURRENT_MS,
  createDeliveryScheduler,
  type DeliveryScheduler,
  MAX_ENDPOINTS_PER_READ,
  MAX_HELD,
  MAX_READ_OF_ENDPOINT,
  MAX_UNWRITTEN,
  MAX_WAITING_WHEN_FULL,
  PAUSE_MS,
} from "../../src/deliveries/DeliveryScheduler.ts"
import { type EndpointQueue, secretsAt } from "../../src/deliveries/EndpointQueue.ts"
import { ownedEndpoint } from "./ownedEndpoint.ts"

const CALL_MS = 15_000

const endpoints = (count: number, organizations: number) =>
  Array.from({ length: count }, (_, i) => ownedEndpoint(i, i % organizations))

const secretOf = (text: string, endsInMs: number | null = null): SigningSecret => ({
  secret: Redacted.make(text),
  endsInMs,
})
const secretsOf = (owned: ReadonlyArray<OwnedEndpoint>, ...signing: ReadonlyArray<SigningSecret>) =>
  new Map(owned.map(({ endpointId }) => [endpointId, { signing, headers: null }]))

/** A scheduler of endpoints with endless logs; `read` returns all requested events. */
const schedulerOf = (
  count: number,
  maxInFlight: number,
  organizations = count,
  settings: Partial<OwnedEndpoint> = {},
) => {
  const clock = { now: 0 }
  const scheduler = createDeliveryScheduler({ maxInFlight, perEndpoint: 16, callMs: CALL_MS, now: () => clock.now })
  const owned = endpoints(count, organizations).map((each) => ({ ...each, ...settings }))
  scheduler.update(owned, secretsOf(owned, secretOf("first")))
  const write = () => {
    for (const each of scheduler.takeWrites()) scheduler.afterWrite(each, false)
  }
  let events = 0
  const read = (wanted = scheduler.wantedOfLogs()) => {
    const deliveries = [...wanted].flatMap(([{ endpointId, organizationId }, { limit }]) =>
      Array.from({ length: limit }, () => {
        const number = String(events++)
        return {
          id: `dlv_${number}` as DeliveryId,
          eventId: `evt_${number}` as EventId,
          endpointId,
          organizationId,
          version: 1,
          losses: 0,
          isRow: false,
        }
      }),
    )
    scheduler.addRead(wanted, deliveries as unknown as ReadonlyArray<Delivery>)
    return wanted
  }
  const readOf = (queue: EndpointQueue, limit: number) =>
    read(new Map([[queue, { endpointId: queue.endpointId, limit }]]))
  const held = () => [...scheduler.queues.values()].reduce((sum, { log }) => sum + log.waiting.length, 0)
  const firstQueue = () => [...scheduler.queues.values()][0]!
  return { clock, scheduler, owned, read, readOf, write, held, firstQueue, queue: firstQueue() }
}

/** Outcomes that weren't written yet. */
const unwritten = ({ takeWrites }: DeliveryScheduler) => takeWrites().flatMap(({ outcomes }) => outcomes)

/** Result of a call. Version 0 of an endpoint doesn't affect its state. */
const resultOf = (reason: DeliveryReason, version = 1) =>
  ({
    ...{ version, attempt: { latencyMs: 10, outcome: reason } },
    ...(reason === "success" ? { settlement: "delivered" } : { settlement: "retry", delay: 30 }),
  }) as unknown as Outcome
/** The outcome of a defect. */
const DEFECTIVE = { version: 1, attempt: null, settlement: "retry", delay: 10 } as unknown as Outcome
const ARRIVED = resultOf("success", 0)

describe("the scheduler of endpoints", () => {
  it("keeps a bounded number of events in memory, even if many endpoints are far behind", () => {
    const { scheduler, read, held } = schedulerOf(5000, 512)
    while (scheduler.isReadDue()) {
      const wanted = read()
      expect(wanted.size).toBeLessThanOrEqual(MAX_ENDPOINTS_PER_READ)
    }
    expect(held()).toBeGreaterThanOrEqual(5000)
    expect(held()).toBeLessThanOrEqual(
      MAX_HELD + MAX_ENDPOINTS_PER_READ * MAX_READ_OF_ENDPOINT + 5000 * MAX_WAITING_WHEN_FULL,
    )
  })

  it.each([
    { count: 200, maxInFlight: 512 },
    { count: 256, maxInFlight: 512 },
    { count: 60, maxInFlight: 120 },
  ])(
    "keeps a call for each of $count endpoints, of $maxInFlight in all, while those before have as many as they may and none ends",
    ({ count, maxInFlight }) => {
      const { scheduler, readOf } = schedulerOf(count, maxInFlight)
      for (const queue of scheduler.queues.values()) {
        readOf(queue, 64)
        while (scheduler.begin() !== undefined);
        expect(scheduler.callsTo(queue)).toBeGreaterThan(0)
      }
    },
  )

  it("lets one endpoint have its maximum of calls next to 10,000 idle endpoints", () => {
    const { scheduler, queue, readOf } = schedulerOf(10_000, 512)
    readOf(queue, 64)
    while (scheduler.begin() !== undefined);
    expect(scheduler.callsTo(queue)).toBe(16)
  })

  it("starts no call while too many outcomes are unwritten, because all of their calls are repeated if the worker is killed", () => {
    const { scheduler, read, write } = schedulerOf(20, 128)
    read()
    for (let answered = 0; answered < MAX_UNWRITTEN; answered++) scheduler.ended(scheduler.begin()!, ARRIVED)
    expect([scheduler.unwritten(), scheduler.begin()]).toEqual([MAX_UNWRITTEN, undefined])
    write()
    expect(scheduler.unwritten()).toBe(0)
    expect(scheduler.begin()).toBeDefined()
  })

  it("reads few endpoints with much each, not each as soon as it has room", () => {
    const { scheduler, read, write } = schedulerOf(20, 128)
    read()
    const reads: Array<number> = []
    for (let sent = 0; sent < 4000; sent++) {
      scheduler.ended(scheduler.begin()!, ARRIVED)
      write()
      if (scheduler.isReadDue()) reads.push(read().size)
    }
    expect(reads.length).toBeLessThanOrEqual(4000 / 400)
  })

  it("reads a log again that was hinted at while it was read, and no other", () => {
    const { scheduler } = schedulerOf(2, 16)
    const wanted = scheduler.wantedOfLogs()
    scheduler.notify("events", "org_1" as OrganizationId)
    scheduler.addRead(wanted, [])
    expect([...scheduler.wantedOfLogs().keys()].map(({ endpointId }) => endpointId)).toEqual(["whe_1"])
    expect(scheduler.isReadDue()).toBe(false)
  })

  it("names the events that it has when it reads on, so that the database returns the ones it lacks, and keeps each once", () => {
    const { scheduler, queue, readOf, held } = schedulerOf(1, 16)
    readOf(queue, 3)
    scheduler.ended(scheduler.begin()!, ARRIVED)
    scheduler.begin()
    scheduler.notify("events", null)
    const wanted = scheduler.wantedOfLogs()
    expect(wanted.get(queue)!.events).toEqual(["evt_0", "evt_1", "evt_2"])
    const { endpointId } = queue
    scheduler.addRead(
      wanted,
      ["evt_1", "evt_2", "evt_3"].map((eventId) => ({ endpointId, eventId }) as Delivery),
    )
    expect(held()).toBe(2)
  })

  it("reads logs again after a failed read", () => {
    const { scheduler } = schedulerOf(2, 16)
    const failed = scheduler.wantedOfLogs()
    expect(scheduler.isReadDue()).toBe(false)
    scheduler.readAgain(failed)
    expect([...scheduler.wantedOfLogs().keys()]).toEqual([...failed.keys()])
  })

  it("lets an endpoint that was skipped while the memory was full continue once its queue is sent", () => {
    const { scheduler, read, write } = schedulerOf(1000, 512)
    while (scheduler.isReadDue()) read()
    const sent = new Map<string, number>()
    for (let i = 0; i < 20_000; i++) {
      const call = scheduler.begin()!
      const { queue } = call
      scheduler.ended(call, ARRIVED)
      sent.set(queue.endpointId, (sent.get(queue.endpointId) ?? 0) + 1)
      write()
      while (scheduler.isReadDue()) read()
    }
    expect(sent.size).toBe(1000)
    expect(Math.min(...sent.values())).toBe(20)
    expect(Math.max(...sent.values())).toBe(20)
  })

  it.each(["name_not_asked", "proxy_failed"] as const)(
    "requeues calls that weren't made: no attempt, no outcome, and the breaker stays closed: %s",
    (reason) => {
      const { clock, scheduler, queue, readOf } = schedulerOf(1, 512)
      readOf(queue, 20)
      const calls = Array.from({ length: 16 }, () => scheduler.begin()!)
      for (const call of calls) scheduler.ended(call, resultOf(reason))
      expect(scheduler.unwritten()).toBe(0)
      expect(queue.breaker).toBe(queue.storedBreaker)
      expect(queue).toMatchObject({ breaker: { failures: 0, allowance: null }, outcomes: [], log: { called: [] } })
      expect(scheduler.begin()).toBeUndefined()
      expect(scheduler.wakeAt()).toBe(PAUSE_MS)
      clock.now = PAUSE_MS
      scheduler.wake()
      // One at a time, until a call succeeds.
      const again = scheduler.begin()!.delivery
      expect(scheduler.begin()).toBeUndefined()
      expect(calls.map(({ delivery }) => delivery)).toContain(again)
      expect(queue.log.called).toEqual([again])
      expect(queue.log.waiting).toHaveLength(19)
    },
  )

  it("leaves a call that was not made to the next worker without an attempt, once its endpoint is given up", () => {
    const { scheduler, queue, readOf } = schedulerOf(1, 512)
    readOf(queue, 1)
    const call = scheduler.begin()!
    expect(scheduler.leave(queue)).toMatchObject({ calling: [call.delivery.eventId] })
    scheduler.ended(call, resultOf("name_not_asked"))
    expect(unwritten(scheduler)).toMatchObject([{ attempt: null, settlement: "retry" }])
  })

  it("releases a delivery after a defect in its call, and throttles an endpoint if all its calls fail this way", () => {
    const { scheduler, queue, readOf } = schedulerOf(1, 512)
    readOf(queue, 20)
    const calls = Array.from({ length: 5 }, () => scheduler.begin()!)
    for (const call of calls) scheduler.ended(call, DEFECTIVE)
    expect(queue.log.called).toEqual(calls.map(({ delivery }) => delivery))
    expect(unwritten(scheduler)).toEqual(Array(5).fill(DEFECTIVE))
    expect(queue.breaker).not.toBe(queue.storedBreaker)
    expect([scheduler.callsTo(queue), scheduler.begin()]).toEqual([0, undefined])
  })

  it("starts no call to an endpoint that is gone until its version changes", () => {
    const { scheduler, queue, readOf } = schedulerOf(1, 512)
    readOf(queue, 20)
    const gone = { version: 1, settlement: "gone", attempt: { outcome: "client_error" } } as unknown as Outcome
    scheduler.ended(scheduler.begin()!, gone)
    expect(scheduler.begin()).toBeUndefined()
    const look = (version: number) => {
      const owned = endpoints(1, 1).map((each) => ({ ...each, version }))
      scheduler.update(owned, secretsOf(owned, secretOf("whsec_a")))
    }
    // The database doesn't know it yet.
    look(1)
    expect(scheduler.begin()).toBeUndefined()
    look(3)
    expect(scheduler.begin()).toBeDefined()
  })
})

describe("an endpoint that changed", () => {
  const begun = (count = 16) => {
    const state = schedulerOf(1, 512)
    state.readOf(state.queue, 64)
    const calls = Array.from({ length: count }, () => state.scheduler.begin()!)
    const change = (changes: Partial<OwnedEndpoint>, ...secrets: ReadonlyArray<SigningSecret>) => {
      const changed = state.owned.map((each) => ({ ...each, ...changes }))
      state.scheduler.update(changed, secretsOf(changed, ...secrets))
    }
    return { ...state, calls, change }
  }
  const beginAll = ({ begin }: DeliveryScheduler) => {
    let count = 0
    while (begin() !== undefined) count++
    return count
  }

  it("makes all its calls to a new address while old ones hang, and ignores their results", () => {
    const { scheduler, queue, calls, change } = begun()
    expect(scheduler.begin()).toBeUndefined()
    change({ version: 2, url: EndpointUrl.make("https://partner.test/new") }, secretOf("first"))
    expect(beginAll(scheduler)).toBe(16)
    for (const call of calls) scheduler.ended(call, resultOf("deadline", 1))
    expect(queue).toMatchObject({ breaker: { failures: 0 }, allowance: Number.POSITIVE_INFINITY })
    expect(scheduler.callsTo(queue)).toBe(16)
    expect(unwritten(scheduler)).toHaveLength(16)
  })

  it("keeps its limit at the same address, and restores its allowance regardless of earlier timeouts", () => {
    const { scheduler, queue, calls, change } = begun()
    for (const call of calls.slice(0, 8)) scheduler.ended(call, resultOf("deadline", 1))
    expect([beginAll(scheduler), queue.allowance]).toEqual([0, 1])
    change({ version: 2 }, secretOf("first"))
    expect(beginAll(scheduler)).toBe(8)
  })

  it("is not called until its settings are as new as its deliveries", () => {
    const { scheduler, queue, change } = begun(1)
    const [delivery] = queue.log.waiting
    const wanted = new Map([[queue, { endpointId: queue.endpointId, limit: 1 }]])
    scheduler.addTaken(wanted, [{ ...delivery!, version: 2, isRow: true }])
    expect([...scheduler.toRefresh]).toEqual([queue])
    expect(scheduler.begin()).toBeUndefined()
    change({ version: 2 }, secretOf("second"))
    expect([...scheduler.toRefresh]).toEqual([])
    expect(scheduler.begin()).toBeDefined()
    expect(secretsAt(queue, 0).map(Redacted.value)).toEqual(["second"])
  })

  it("is not called without an active signing secret, and waits until a new one exists", () => {
    const { scheduler, queue, clock, change } = begun(1)
    change({ version: 2 }, secretOf("last", 1000), secretOf("first", 500))
    clock.now = 500
    expect(secretsAt(queue, clock.now).map(Redacted.value)).toEqual(["last"])
    expect(scheduler.begin()).toBeDefined()
    clock.now = 1000
    expect(scheduler.begin()).toBeUndefined()
    change({ version: 3 }, secretOf("new"))
    expect(scheduler.begin()).toBeDefined()
  })
})

/** An endpoint with settings and a fully read log that is ready for calls. */
const limited = (settings: Partial<OwnedEndpoint>) => {
  const state = schedulerOf(1, 512, 1, settings)
  const { clock, scheduler, owned, queue, read } = state
  const pass = (ms: number) => {
    clock.now += ms
    scheduler.wake()
    while (scheduler.isReadDue()) read()
  }
  /** Starts all possible calls, and ends them unless they hang. */
  const send = (isHanging = false) => {
    const sent: Array<Call> = []
    for (let next = scheduler.begin(); next !== undefined; next = scheduler.begin()) {
      sent.push(next)
      if (!isHanging) scheduler.ended(next, ARRIVED)
      if (sent.length > 1000) throw new Error("calls without a limit")
      while (scheduler.isReadDue()) read()
    }
    return sent
  }
  /** Provides as many rows as it requests. */
  const takeRows = (...rows: ReadonlyArray<"retry" | "replay">) => {
    const wanted = scheduler.wantedOfRows()
    const { limit = 0, takesReplays = false } = wanted.get(queue) ?? {}
    const found = rows.filter((row) => takesReplays || row === "retry").slice(0, limit)
    const deliveries = found.map((row, i) => ({
      ...{ id: `${row}_${clock.now}_${i}`, eventId: row, endpointId: queue.endpointId, version: 1, losses: 0 },
      ...{ isRow: true, isReplay: row === "replay" },
    }))
    scheduler.addTaken(wanted, deliveries as unknown as ReadonlyArray<Delivery>)
    return found
  }
  const change = (changes: Partial<OwnedEndpoint>) => {
    const changed = owned.map((each) => ({ ...each, ...settings, ...changes }))
    scheduler.update(changed, secretsOf(changed, secretOf("first")))
  }
  return { ...state, pass, send, takeRows, change }
}

describe("an endpoint with a rate", () => {
  it("has its first call a second after it was taken over, and then as many in each second as it may have", () => {
    const { pass, send } = limited({ perSecond: 5 })
    pass(999)
    expect(send()).toEqual([])
    pass(1)
    const tenths = Array.from({ length: 30 }, () => {
      const sent = send().length
      pass(100)
      return sent
    })
    expect(tenths).toEqual(Array(3).fill([1, 1, 1, 1, 1, 0, 0, 0, 0, 0]).flat())
  })

  it("wakes the worker exactly when the next call may start, and leaves the turns to other endpoints until then", () => {
    const { clock, scheduler, pass, send } = limited({ perSecond: 2 })
    expect(scheduler.wakeAt()).toBe(1000)
    for (const at of [1000, 1100, 2000, 2100, 3000]) {
      pass(at - clock.now - 1)
      expect(send()).toEqual([])
      pass(1)
      expect(send()).toHaveLength(1)
      expect(scheduler.wakeAt()).toBeGreaterThan(at)
    }
  })

  it("keeps at most one second of calls in memory, and reads more when half of them are sent", () => {
    const { clock, scheduler, pass, send, queue } = limited({ perSecond: 8 })
    pass(1000)
    let reads = 0
    for (let sent = send().length; sent < 80; sent += send().length) {
      expect(queue.log.waiting.length).toBeLessThanOrEqual(8)
      clock.now = scheduler.wakeAt()
      scheduler.wake()
      reads += scheduler.isReadDue() ? 1 : 0
      pass(0)
    }
    expect(reads).toBeLessThanOrEqual(80 / 4)
  })

  it("keeps counting the calls of the last second when it changes, even to a new address", () => {
    const { scheduler, pass, send, change } = limited({ perSecond: 1 })
    pass(1000)
    expect(send()).toHaveLength(1)
    change({ version: 2, perSecond: 2, url: EndpointUrl.make("https://partner.test/new") })
    pass(100)
    expect(send()).toHaveLength(1)
    pass(899)
    expect(send()).toEqual([])
    pass(1)
    expect(send()).toHaveLength(1)
    change({ version: 3, perSecond: null })
    pass(0)
    expect([scheduler.begin(), scheduler.begin(), scheduler.begin()]).not.toContain(undefined)
  })

  it("sends events first, then retries, then replays, and takes no replays while events wait", () => {
    const { scheduler, pass, send, takeRows, queue } = limited({ perSecond: 4 })
    // Its log is still empty.
    queue.nextAt.log = Number.POSITIVE_INFINITY
    pass(1000)
    expect(takeRows("replay", "replay", "replay")).toEqual(["replay", "replay"])
    const sent = () => send().map(({ delivery }) => String(delivery.eventId).replace(/evt_.*/, "event"))
    expect(sent()).toEqual(["replay"])
    // A replay waits; events arrive, and a retry is due.
    queue.nextAt.log = 0
    scheduler.dueIn({ endpointId: queue.endpointId, inMs: 0, isReplay: false })
    pass(100)
    expect(takeRows("retry", "replay")).toEqual(["retry"])
    const order: Array<string> = []
    for (let i = 0; i < 100; i++) {
      order.push(...sent())
      pass(100)
    }
    expect(order.slice(0, 8).filter((kind) => kind === "retry")).toEqual(["retry"])
    expect(order).not.toContain("replay")
    // No more events.
    queue.log = { ...queue.log, waiting: [] }
    queue.nextAt.log = Number.POSITIVE_INFINITY
    pass(1000)
    expect(sent()).toEqual(["replay"])
  })

  it("waits longer after a worker was lost, because its calls may have started up to two seconds later", () => {
    const { scheduler, pass, send, queue } = limited({ perSecond: 5 })
    scheduler.noteLostWorker(queue.endpointId)
    pass(CURRENT_MS + 999)
    expect(send()).toEqual([])
    pass(1)
    expect(send()).toHaveLength(1)
  })
})

describe("an endpoint with a limit of calls in flight", () => {
  it("has no call until those of a worker that was lost must have ended", () => {
    const { scheduler, pass, send, queue } = limited({ maxInFlight: 2 })
    scheduler.noteLostWorker(queue.endpointId)
    pass(CURRENT_MS + CALL_MS - 1)
    expect(send()).toEqual([])
    pass(1)
    expect(send(true)).toHaveLength(2)
  })

  it("counts the calls that are in flight since before it was given up, or disabled, and taken again", () => {
    const { scheduler, owned, pass, send, readOf, firstQueue } = limited({ maxInFlight: 3 })
    const takeAgain = (changes: Partial<OwnedEndpoint> = {}) => {
      scheduler.remove(firstQueue())
      const taken = owned.map((each) => ({ ...each, ...changes }))
      scheduler.update(taken, secretsOf(owned, secretOf("first")))
      readOf(firstQueue(), 10)
    }
    pass(0)
    const calls = send(true)
    expect(calls).toHaveLength(3)
    takeAgain()
    expect(send(true)).toEqual([])
    scheduler.ended(calls[0]!, DEFECTIVE)
    expect(send(true)).toHaveLength(1)
    takeAgain()
    for (const call of calls.slice(1)) scheduler.ended(call, DEFECTIVE)
    expect(send(true)).toHaveLength(2)
    // With another URL, none of them counts.
    takeAgain({ version: 2, url: EndpointUrl.make("https://partner.test/new") })
    expect(send(true)).toHaveLength(3)
  })
})
