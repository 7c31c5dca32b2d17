import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { OwnedEndpoint } from "@outreach/domain/deliveries/EndpointReaders"
import type { DeliveryId, EndpointId, EventId, OrganizationId } from "@outreach/domain/Identifier"
import { describe, expect, it } from "vitest"
import { deliveryOwner } from "../../src/deliveries/deliveryOwner.ts"
import { workerLimits } from "../../src/workerLimits.ts"

const { maxHeld, maxWaitingWhenFull, maxReadOfEndpoint, maxEndpointsPerRead } = workerLimits.deliveries

const endpoints = (count: number, organizations: number): ReadonlyArray<OwnedEndpoint> =>
  Array.from({ length: count }, (_, i) => ({
    endpointId: `whe_${i}` as EndpointId,
    organizationId: `org_${i % organizations}` as OrganizationId,
    enabled: true,
    maxInFlight: null,
    standardWebhooks: false,
    failures: 0,
    allowance: null,
    probeInMs: 0,
    inFlightElsewhere: 0,
  }))

/** An owner of endpoints whose logs never end, of which `read` reads all that is wanted. */
const ownerOf = (count: number, maxInFlight: number, organizations = count) => {
  const owner = deliveryOwner({ maxInFlight, perEndpoint: 16, now: () => 0 })
  owner.update(endpoints(count, organizations))
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
  return { owner, read, held }
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
        expect(lane.inFlight).toBeGreaterThan(0)
      }
    },
  )

  it("lets one endpoint have all that one may have beside 10,000 that have nothing to send", () => {
    const { owner, read } = ownerOf(10_000, 512)
    const [lane] = owner.lanes.values()
    read(new Map([[lane!, 64]]))
    while (owner.begin() !== undefined);
    expect(lane!.inFlight).toBe(16)
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
})
