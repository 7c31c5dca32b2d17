import type { AttemptResult } from "@outreach/domain/deliveries/Deliveries"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import type { OwnedEndpoint, SigningSecret } from "@outreach/domain/deliveries/EndpointReaders"
import type { DeliveryId, EndpointId, EventId, OrganizationId } from "@outreach/domain/Identifier"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { secretsAt } from "../../src/deliveries/deliveryLane.ts"
import { deliveryOwner } from "../../src/deliveries/deliveryOwner.ts"
import { workerLimits } from "../../src/workerLimits.ts"

const { maxHeld, maxWaitingWhenFull, maxReadOfEndpoint, maxEndpointsPerRead, pauseMs } = workerLimits.deliveries

const endpoints = (count: number, organizations: number): ReadonlyArray<OwnedEndpoint> =>
  Array.from({ length: count }, (_, i) => ({
    endpointId: `whe_${i}` as EndpointId,
    organizationId: `org_${i % organizations}` as OrganizationId,
    version: 1,
    enabled: true,
    url: EndpointUrl.make("https://partner.test/"),
    maxInFlight: null,
    standardWebhooks: false,
    failures: 0,
    allowance: null,
    probeInMs: 0,
    inFlightElsewhere: 0,
  }))

const secretOf = (text: string, endsInMs: number | null = null): SigningSecret => ({
  secret: Redacted.make(text),
  endsInMs,
})
const secretsOf = (owned: ReadonlyArray<OwnedEndpoint>, ...secrets: ReadonlyArray<SigningSecret>) =>
  new Map(owned.map(({ organizationId }) => [organizationId, secrets]))

/** An owner of endpoints whose logs never end, of which `read` reads all that is wanted. */
const ownerOf = (count: number, maxInFlight: number, organizations = count) => {
  const clock = { now: 0 }
  const owner = deliveryOwner({ maxInFlight, perEndpoint: 16, now: () => clock.now })
  const owned = endpoints(count, organizations)
  owner.update(owned, secretsOf(owned, secretOf("first")))
  let events = 0
  const read = (wanted = owner.wantedOfLogs()) => {
    const deliveries = [...wanted].flatMap(([{ endpointId, organizationId }, limit]) =>
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
    owner.wasRead(wanted, deliveries as unknown as ReadonlyArray<Delivery>, 0)
    for (const lane of wanted.keys()) owner.mayCall(lane)
    return wanted
  }
  const held = () => [...owner.lanes.values()].reduce((sum, lane) => sum + lane.waiting.length, 0)
  return { clock, owner, owned, read, held }
}

describe("the owner of endpoints", () => {
  it("holds a bounded number of events in memory, however many endpoints are far behind", () => {
    const { owner, read, held } = ownerOf(5000, 512)
    while (owner.isReadDue()) {
      const wanted = read()
      expect(wanted.size).toBeLessThanOrEqual(maxEndpointsPerRead)
    }
    expect(held()).toBeGreaterThanOrEqual(5000)
    expect(held()).toBeLessThanOrEqual(maxHeld + maxEndpointsPerRead * maxReadOfEndpoint + 5000 * maxWaitingWhenFull)
  })

  it.each([
    { count: 200, maxInFlight: 512 },
    { count: 256, maxInFlight: 512 },
    { count: 60, maxInFlight: 120 },
  ])(
    "keeps a call for each of $count endpoints, of $maxInFlight in all, while those before have as many as they may and none ends",
    ({ count, maxInFlight }) => {
      const { owner, read } = ownerOf(count, maxInFlight)
      for (const lane of owner.lanes.values()) {
        read(new Map([[lane, 64]]))
        while (owner.begin() !== undefined);
        expect(lane.calls.size).toBeGreaterThan(0)
      }
    },
  )

  it("lets one endpoint have all that one may have beside 10,000 that have nothing to send", () => {
    const { owner, read } = ownerOf(10_000, 512)
    const [lane] = owner.lanes.values()
    read(new Map([[lane!, 64]]))
    while (owner.begin() !== undefined);
    expect(lane!.calls.size).toBe(16)
  })

  it("reads few endpoints with much each, not each as soon as it has room", () => {
    const { owner, read } = ownerOf(20, 128)
    read()
    const reads: Array<number> = []
    for (let sent = 0; sent < 4000; sent++) {
      const [lane, delivery] = owner.begin()!
      owner.ended(lane, delivery, undefined)
      if (owner.isReadDue()) reads.push(read().size)
    }
    expect(reads.length).toBeLessThanOrEqual(4000 / 400)
  })

  it("lets an endpoint that was left out while the memory was full go on as soon as it has sent what it has", () => {
    const { owner, read } = ownerOf(1000, 512)
    while (owner.isReadDue()) read()
    const sent = new Map<string, number>()
    for (let i = 0; i < 20_000; i++) {
      const [lane, delivery] = owner.begin()!
      owner.ended(lane, delivery, undefined)
      sent.set(lane.endpointId, (sent.get(lane.endpointId) ?? 0) + 1)
      while (owner.isReadDue()) read()
    }
    expect(sent.size).toBe(1000)
    expect(Math.min(...sent.values())).toBe(20)
    expect(Math.max(...sent.values())).toBe(20)
  })

  it("puts back what was not sent because its name had no turn: no attempt, no outcome, and the breaker stays closed", () => {
    const { clock, owner, read } = ownerOf(1, 512)
    const [lane] = owner.lanes.values()
    read(new Map([[lane!, 20]]))
    const calls = Array.from({ length: 16 }, () => owner.begin()!)
    const outcome = { version: 1, reason: "name_not_asked", verdict: "transient", attempt: { latencyMs: 1000 } }
    const isToWrite = calls.map(([lane, held]) => owner.ended(lane, held, outcome as unknown as AttemptResult))
    expect(isToWrite).toEqual(Array(16).fill(false))
    expect(lane).toMatchObject({ breaker: { failures: 0, allowance: null }, outcomes: [], isBreakerNews: false })
    expect(lane!.reader).toMatchObject({ calling: [], answered: [] })
    expect(owner.begin()).toBeUndefined()
    expect(owner.wakeAt()).toBe(pauseMs)
    clock.now = pauseMs
    owner.wakeAt()
    // One at a time, until a call is answered.
    const again = owner.begin()![1]
    expect(owner.begin()).toBeUndefined()
    expect(calls.map(([, held]) => held)).toContain(again)
    expect(lane!.reader.calling).toEqual([again.delivery.eventId])
    expect(lane!.reader.waiting).toEqual(lane!.waiting.map(({ delivery }) => delivery.eventId))
    expect(lane!.waiting).toHaveLength(19)
  })
})

describe("an endpoint that changed", () => {
  const begun = (count = 16) => {
    const state = ownerOf(1, 512)
    const [lane] = state.owner.lanes.values()
    state.read(new Map([[lane!, 64]]))
    const calls = Array.from({ length: count }, () => state.owner.begin()!)
    const change = (changes: Partial<OwnedEndpoint>, ...secrets: ReadonlyArray<SigningSecret>) => {
      const changed = state.owned.map((each) => ({ ...each, ...changes }))
      state.owner.update(changed, secretsOf(changed, ...secrets))
    }
    return { ...state, lane: lane!, calls, change }
  }
  const result = (version: number, reason: "deadline" | "success") =>
    ({
      ...{ version, reason, verdict: reason === "success" ? "delivered" : "transient" },
      ...{ attempt: { latencyMs: 10 }, settlement: { state: "retry", delaySeconds: 30 }, delivery: {} },
    }) as unknown as AttemptResult
  const beginAll = ({ begin }: ReturnType<typeof deliveryOwner>) => {
    let count = 0
    while (begin() !== undefined) count++
    return count
  }

  it("has all its calls at a new address, while as many hang at the old one, which teach nothing when they end", () => {
    const { owner, lane, calls, change } = begun()
    expect(owner.begin()).toBeUndefined()
    change({ version: 2, url: EndpointUrl.make("https://partner.test/new") }, secretOf("first"))
    expect(beginAll(owner)).toBe(16)
    for (const [, held] of calls) owner.ended(lane, held, result(1, "deadline"))
    expect(lane).toMatchObject({ breaker: { failures: 0 }, allowance: Number.POSITIVE_INFINITY })
    expect(lane.calls.size).toBe(16)
    expect(lane.outcomes).toHaveLength(16)
  })

  it("keeps its bound at the same address, and begins again with all of it, whatever timed out before", () => {
    const { owner, lane, calls, change } = begun()
    for (const [, held] of calls.slice(0, 8)) owner.ended(lane, held, result(1, "deadline"))
    expect([beginAll(owner), lane.allowance]).toEqual([0, 1])
    change({ version: 2 }, secretOf("first"))
    expect(beginAll(owner)).toBe(8)
  })

  it("is called by nothing that is older than what was read of it", () => {
    const { owner, lane, change } = begun(1)
    const [delivery] = lane.waiting
    owner.wasTaken(new Map([[lane, 1]]), [{ ...delivery!.delivery, version: 2, isRow: true }], 0)
    expect(owner.isOutdated()).toBe(true)
    expect(owner.begin()).toBeUndefined()
    change({ version: 2 }, secretOf("second"))
    expect(owner.isOutdated()).toBe(false)
    expect(owner.begin()).toBeDefined()
    expect(secretsAt(lane, 0).map(Redacted.value)).toEqual(["second"])
  })

  it("is not called while nothing signs: an ended secret signs nothing, and without another all waits", () => {
    const { owner, lane, clock, change } = begun(1)
    change({ version: 2 }, secretOf("last", 1000), secretOf("first", 500))
    clock.now = 500
    expect(secretsAt(lane, clock.now).map(Redacted.value)).toEqual(["last"])
    expect(owner.begin()).toBeDefined()
    clock.now = 1000
    expect(owner.begin()).toBeUndefined()
    change({ version: 3 }, secretOf("new"))
    expect(owner.begin()).toBeDefined()
  })
})
