import type { CampaignId, OrganizationId, SenderId } from "../Identifier.ts"
import type { MessageLease } from "./Message.ts"

type CampaignKey = Pick<MessageLease, "organizationId" | "campaignId">

/** A due message locked by the deciding claim. Times are in seconds since 1970. */
export interface DueMessage extends Omit<MessageLease, "leaseToken" | "fields" | "ramp"> {
  /** Domain of the address in lower case. */
  readonly domain: string
  /** Rate of its campaign; null for unlimited. */
  readonly perMinute: number | null
  /** Sender with a ramp; null without one. */
  readonly senderId: SenderId | null
}

/** Locked messages of a claim in order of turns, with their limits. */
export interface DueMessages {
  readonly now: number
  readonly candidates: ReadonlyArray<DueMessage>
  /** Start of the next slot of each locked rate. */
  readonly rates: Readonly<Record<string, number>>
  /** Remaining messages of each sender's ramp, and the UTC day that counts them. */
  readonly ramps: Readonly<Record<SenderId, { readonly slots: number; readonly day: string }>>
  /** End of each pause of a domain by a campaign. */
  readonly pauses: ReadonlyArray<{ readonly campaignId: CampaignId; readonly domain: string; readonly until: number }>
  /** Organizations with turns locked by this claim; null if locked by another one. */
  readonly heldOrganizations: ReadonlyArray<OrganizationId> | null
  readonly heldCampaigns: ReadonlyArray<CampaignKey>
  /** Campaigns with due messages when the slots were distributed. */
  readonly waitingCampaigns: ReadonlyArray<CampaignId>
}

/** Limits over all campaigns; null for unlimited. */
export interface ClaimRates {
  readonly perMinute: number | null
  readonly perDomainMinute: number | null
}

export interface ClaimDecision {
  readonly leases: ReadonlyArray<DueMessage>
  readonly deferrals: ReadonlyArray<Deferral>
  /** Start of the next slot of each used rate. */
  readonly rates: Readonly<Record<string, number>>
  readonly ramps: ReadonlyArray<{
    readonly organizationId: OrganizationId
    readonly senderId: SenderId
    readonly day: string
    readonly times: number
  }>
  readonly organizations: ReadonlyArray<OrganizationId> | null
  readonly campaigns: ReadonlyArray<CampaignKey>
  /** Campaign of each leased or deferred message, in candidate order. */
  readonly served: ReadonlyArray<CampaignKey>
}

/** A message that becomes due later: at `until`, or behind earlier ones of its scope. */
export interface Deferral extends Pick<DueMessage, "organizationId" | "recipientId"> {
  readonly until: number
  /** The campaign's queue for a rate; null for a pause. */
  readonly scope: string | null
  /** Number of earlier messages of this claim in that queue. */
  readonly rank: number
  readonly perMinute: number | null
}

/** Unused slots of a rate are kept for one second, so that a late claim doesn't reduce the throughput. */
const SAVED_SECONDS = 1

/** Start of a rate's next slot, without slots older than the saved time. */
const slotFrom = (nextAt: number | undefined, now: number): number => Math.max(nextAt ?? 0, now - SAVED_SECONDS)

/** Returns the number of messages that a rate allows now; unlimited without a rate. */
export const openSlots = (nextAt: number | undefined, perMinute: number | null, now: number): number =>
  perMinute === null ? Infinity : Math.max(0, 1 + Math.floor(((now - slotFrom(nextAt, now)) * perMinute) / 60))

/** Returns the start of a rate's next slot after it was used. */
export const nextSlot = (nextAt: number | undefined, perMinute: number, now: number, times: number): number =>
  slotFrom(nextAt, now) + (times * 60) / perMinute

/** The rates of a message. Those with `isDeferring` defer messages until a slot is free. */
const ratesOf = (
  { campaignId, domain, perMinute }: DueMessage,
  bounds: ClaimRates,
): ReadonlyArray<{ readonly name: string; readonly perMinute: number | null; readonly isDeferring: boolean }> => [
  { name: `domain ${domain}`, perMinute: bounds.perDomainMinute, isDeferring: true },
  { name: `campaign ${campaignId}`, perMinute, isDeferring: false },
  { name: "all", perMinute: bounds.perMinute, isDeferring: false },
]

/**
 * Decides which due messages are leased, at most `limit`, and when others become due.
 *
 * A message is leased in order of turns if its campaign's pauses, its sender's ramp, and the rates of its domain, its campaign and of
 * all campaigns have a slot; only leased messages use slots. Messages blocked by a pause or a domain's rate
 * are deferred, so that claims don't read them until then. Messages blocked by other limits stay due.
 */
export const decideClaim = (due: DueMessages, bounds: ClaimRates, limit: number): ClaimDecision => {
  const { now, ramps } = due
  const slotsOf = (name: string, perMinute: number | null) => openSlots(due.rates[name], perMinute, now)
  const pauses = new Map(due.pauses.map(({ campaignId, domain, until }) => [`${campaignId} ${domain}`, until]))
  /** Number of leased messages by rate. */
  const leased = new Map<string, { readonly perMinute: number | null; readonly count: number }>()
  const ofRamp = new Map<SenderId, ClaimDecision["ramps"][number]>()
  const deferred = new Map<string, number>()
  const leases: DueMessage[] = []
  const deferrals: Deferral[] = []
  const served: CampaignKey[] = []

  for (const message of due.candidates) {
    const { organizationId, campaignId, recipientId, senderId } = message
    const ramp = senderId === null ? undefined : ramps[senderId]
    const sentOfRamp = senderId === null ? 0 : (ofRamp.get(senderId)?.times ?? 0)
    const until = pauses.get(`${campaignId} ${message.domain}`) ?? 0
    const rates = ratesOf(message, bounds)
    const full = rates.find(({ name, perMinute }) => (leased.get(name)?.count ?? 0) >= slotsOf(name, perMinute))
    if (until > now) {
      deferrals.push({ organizationId, recipientId, until, scope: null, rank: 0, perMinute: null })
    } else if (ramp !== undefined && sentOfRamp >= ramp.slots) {
      continue
    } else if (full?.isDeferring) {
      const { name } = full
      const perMinute = full.perMinute!
      const scope = `deferral ${campaignId} ${name}`
      const free = nextSlot(due.rates[name], perMinute, now, slotsOf(name, perMinute))
      const rank = deferred.get(scope) ?? 0
      deferrals.push({ organizationId, recipientId, until: free, scope, rank, perMinute })
      deferred.set(scope, rank + 1)
    } else if (full !== undefined || leases.length >= limit) {
      continue
    } else {
      leases.push(message)
      for (const { name, perMinute } of rates)
        leased.set(name, { perMinute, count: (leased.get(name)?.count ?? 0) + 1 })
      if (ramp !== undefined) {
        ofRamp.set(senderId!, { organizationId, senderId: senderId!, day: ramp.day, times: sentOfRamp + 1 })
      }
    }
    served.push({ organizationId, campaignId })
  }
  const servedCampaigns = new Set(served.map(({ campaignId }) => campaignId))
  const waiting = new Set(due.waitingCampaigns)
  return {
    leases,
    deferrals,
    rates: Object.fromEntries(
      [...leased].flatMap(([name, { perMinute, count }]) =>
        perMinute === null ? [] : [[name, nextSlot(due.rates[name], perMinute, now, count)]],
      ),
    ),
    ramps: [...ofRamp.values()],
    organizations: due.heldOrganizations,
    // A campaign with due messages that received no slot keeps its turn.
    campaigns: due.heldCampaigns.filter(
      ({ campaignId }) => !waiting.has(campaignId) || servedCampaigns.has(campaignId),
    ),
    served,
  }
}
