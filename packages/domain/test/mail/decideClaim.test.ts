import type { CampaignId, OrganizationId, ProgramId, RecipientId, SenderId } from "@outreach/domain/Identifier"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decideClaim, nextSlot, openSlots } from "../../src/mail/claimMessages.ts"
import type { DueMessage, DueMessages } from "../../src/mail/MessageQueue.ts"
import type { EmailAddress } from "../../src/recipients/Clinician.ts"

const NOW = 1_800_000_000
const PAUSED = "cmp_1" as CampaignId
const NO_RATES = { perMinute: null, perDomainMinute: null }

/** Creates a due message of campaign `campaign` to a domain. */
const message = (
  place: number,
  about: Partial<Pick<DueMessage, "domain" | "perMinute">> & {
    readonly campaign?: number
    readonly sender?: number | null
  } = {},
): DueMessage => {
  const { campaign = 0, sender = null, domain = "a.test", perMinute = null } = about
  return {
    organizationId: `org_${campaign % 2}` as OrganizationId,
    campaignId: `cmp_${campaign}` as CampaignId,
    programId: "pgm" as ProgramId,
    recipientId: `rcp_${place}` as RecipientId,
    token: "aB3dE9",
    email: `x@${domain}` as EmailAddress,
    attempt: 1,
    unknownOutcomes: 0,
    senderId: sender === null ? null : (`snd_${sender}` as SenderId),
    domain,
    perMinute,
  }
}
const due = (candidates: ReadonlyArray<DueMessage>, more: Partial<DueMessages> = {}): DueMessages => ({
  now: NOW,
  candidates,
  rates: {},
  ramps: {},
  pauses: [],
  heldOrganizations: null,
  heldCampaigns: [],
  waitingCampaigns: [],
  ...more,
})
const places = (messages: ReadonlyArray<{ readonly recipientId: RecipientId }>) =>
  messages.map(({ recipientId }) => Number(recipientId.slice("rcp_".length)))

const rate = fc.option(fc.integer({ min: 1, max: 3000 }), { nil: null })
const nextAt = fc.option(fc.double({ min: NOW - 100, max: NOW + 100, noNaN: true }), { nil: undefined })

describe("the slots of a rate", () => {
  it("are those of one second, the first of them at once", () => {
    expect(openSlots(undefined, 600, NOW)).toBe(11)
    expect(openSlots(NOW - 100, 600, NOW)).toBe(11)
    expect(openSlots(NOW, 600, NOW)).toBe(1)
    expect(openSlots(NOW + 0.001, 600, NOW)).toBe(0)
    expect(openSlots(NOW + 100, null, NOW)).toBe(Infinity)
  })

  it("are used one by one, and none is left once all were used", () => {
    fc.assert(
      fc.property(nextAt, fc.integer({ min: 1, max: 3000 }), (next, perMinute) => {
        const slots = openSlots(next, perMinute, NOW)
        for (let used = 0; used <= slots; used++) {
          // The next slot of a rate is a database time with microseconds.
          const after = nextSlot(next, perMinute, NOW, used) + (used === slots ? 1e-6 : -1e-6)
          if (used === slots) expect(openSlots(after, perMinute, NOW)).toBe(0)
          else expect(openSlots(after, perMinute, NOW)).toBeGreaterThan(0)
        }
      }),
    )
  })
})

describe("decideClaim", () => {
  it("leases messages in turn order, and defers those over their domain's rate, each to a separate slot", () => {
    const candidates = [message(0), message(1), message(2), message(3, { domain: "b.test" })]
    const decision = decideClaim(due(candidates), { ...NO_RATES, perDomainMinute: 1 }, 9)
    expect(places(decision.leases)).toEqual([0, 3])
    // The first message used the slot of this minute, which started a second ago.
    const deferral = { until: NOW - 1 + 60, scope: "deferral cmp_0 domain a.test", perMinute: 1 }
    expect(decision.deferrals).toMatchObject([
      { ...deferral, rank: 0 },
      { ...deferral, rank: 1 },
    ])
    expect(decision.rates).toEqual({ "domain a.test": NOW + 59, "domain b.test": NOW + 59 })
  })

  it("defers messages of a paused domain until the pause ends, without using its rate", () => {
    const candidates = [message(0), message(1)]
    const pauses = [{ campaignId: candidates[0]!.campaignId, domain: "a.test", until: NOW + 10 }]
    const decision = decideClaim(due(candidates, { pauses }), { ...NO_RATES, perDomainMinute: 60 }, 9)
    expect(decision.deferrals.map(({ until, scope }) => [until, scope])).toEqual([
      [NOW + 10, null],
      [NOW + 10, null],
    ])
    expect(decision.rates).toEqual({})
  })

  it("leaves messages unchanged if a ramp, the campaign's rate, the overall rate or the limit blocks them", () => {
    const ramps = { snd_1: { slots: 1, day: "2027-01-15" } } as DueMessages["ramps"]
    const ofRamp = decideClaim(due([message(0, { sender: 1 }), message(1, { sender: 1 })], { ramps }), NO_RATES, 9)
    expect([places(ofRamp.leases), ofRamp.deferrals]).toEqual([[0], []])
    expect(ofRamp.ramps).toMatchObject([{ senderId: "snd_1", day: "2027-01-15", times: 1 }])
    const ofCampaign = decideClaim(due([0, 1].map((place) => message(place, { perMinute: 1 }))), NO_RATES, 9)
    expect([places(ofCampaign.leases), ofCampaign.deferrals]).toEqual([[0], []])
    const ofAll = decideClaim(due([message(0), message(1)]), { ...NO_RATES, perMinute: 1 }, 9)
    expect([places(ofAll.leases), ofAll.deferrals]).toEqual([[0], []])
    expect(places(decideClaim(due([message(0), message(1)]), NO_RATES, 1).leases)).toEqual([0])
  })

  it("lets a campaign keep its turn that had something to send and was left no slot, and no other", () => {
    const campaigns = [0, 1, 2].map((campaign) => message(campaign, { campaign }))
    const heldCampaigns = campaigns.map(({ organizationId, campaignId }) => ({ organizationId, campaignId }))
    const waitingCampaigns = campaigns.slice(0, 2).map(({ campaignId }) => campaignId)
    const decision = decideClaim(due(campaigns.slice(0, 2), { heldCampaigns, waitingCampaigns }), NO_RATES, 1)
    expect(decision.campaigns).toEqual([heldCampaigns[0], heldCampaigns[2]])
    expect(decision.served).toEqual([heldCampaigns[0]])
  })

  it("exceeds no limit, uses slots only for leased messages, and decides each message once, for any input", () => {
    const candidate = fc.record({
      campaign: fc.nat(3),
      sender: fc.option(fc.nat(2), { nil: null }),
      domain: fc.constantFrom("a.test", "b.test", "c.test"),
    })
    const scopes = ["all", ...[0, 1, 2, 3].map((id) => `campaign cmp_${id}`), "domain a.test", "domain b.test"]
    const bounds = fc.record({ perMinute: rate, perDomainMinute: rate })
    const nexts = fc.tuple(...scopes.map(() => nextAt))
    fc.assert(
      fc.property(
        ...([
          fc.array(candidate, { maxLength: 60 }),
          bounds,
          fc.array(rate, { minLength: 4, maxLength: 4 }),
          nexts,
        ] as const),
        ...([fc.array(fc.nat(9), { minLength: 3, maxLength: 3 }), fc.nat(40)] as const),
        (candidates, bounds, campaignRates, nexts, slots, limit) => {
          const messages = candidates.map((each, place) =>
            message(place, { ...each, perMinute: campaignRates[each.campaign]! }),
          )
          const rates = Object.fromEntries(
            scopes.flatMap((scope, i) => (nexts[i] === undefined ? [] : [[scope, nexts[i]]])),
          )
          const ramps = Object.fromEntries(slots.map((slots, i) => [`snd_${i}`, { slots, day: "2027-01-15" }]))
          const state = due(messages, {
            rates,
            ramps,
            pauses: [{ campaignId: PAUSED, domain: "b.test", until: NOW + 5 }],
          })
          const { leases, deferrals, rates: used } = decideClaim(state, bounds, limit)

          expect(new Set(places([...leases, ...deferrals])).size).toBe(leases.length + deferrals.length)
          expect(leases.length).toBeLessThanOrEqual(limit)
          const perScope = new Map<string, { readonly perMinute: number | null; count: number }>()
          const count = (scope: string, perMinute: number | null) =>
            perScope.set(scope, { perMinute, count: (perScope.get(scope)?.count ?? 0) + 1 })
          for (const lease of leases) {
            count("all", bounds.perMinute)
            count(`domain ${lease.domain}`, bounds.perDomainMinute)
            count(`campaign ${lease.campaignId}`, lease.perMinute)
            expect([lease.campaignId, lease.domain]).not.toEqual([PAUSED, "b.test"])
          }
          for (const [scope, { perMinute, count }] of perScope) {
            expect(count).toBeLessThanOrEqual(openSlots(rates[scope], perMinute, NOW))
            if (perMinute === null) expect(used).not.toHaveProperty([scope])
            else expect(used[scope]).toBeCloseTo(nextSlot(rates[scope], perMinute, NOW, count), 3)
          }
          expect(Object.keys(used).filter((scope) => !perScope.has(scope))).toEqual([])
          for (const [i, most] of slots.entries()) {
            expect(leases.filter(({ senderId }) => senderId === `snd_${i}`).length).toBeLessThanOrEqual(most)
          }
          const isFull = (scope: string, perMinute: number | null) =>
            (perScope.get(scope)?.count ?? 0) >= openSlots(rates[scope], perMinute, NOW)
          const isHeldUp = ({ campaignId, domain, senderId, perMinute }: DueMessage) =>
            (campaignId === PAUSED && domain === "b.test") ||
            slots.some(
              (most, i) =>
                senderId === `snd_${i}` && leases.filter((each) => each.senderId === senderId).length >= most,
            ) ||
            isFull("all", bounds.perMinute) ||
            isFull(`domain ${domain}`, bounds.perDomainMinute) ||
            isFull(`campaign ${campaignId}`, perMinute) ||
            leases.length >= limit
          expect(messages.filter((each) => !leases.includes(each) && !isHeldUp(each))).toEqual([])
          for (const { until } of deferrals) expect(until).toBeGreaterThan(NOW)
          const scoped = deferrals.flatMap(({ scope, rank }) => (scope === null ? [] : [`${scope} ${rank}`]))
          expect(new Set(scoped).size).toBe(scoped.length)
        },
      ),
    )
  })
})
