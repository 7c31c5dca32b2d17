import type { CampaignId, OrganizationId, SenderId } from "../Identifier.ts"
import type { MessageLease } from "./Message.ts"

type CampaignKey = Pick<MessageLease, "organizationId" | "campaignId">

/** A message that is due, locked by the claim that decides about it. Times are seconds since 1970. */
export interface DueMessage extends Omit<MessageLease, "leaseToken" | "fields" | "ramp"> {
  /** The domain of the address, in lower case. */
  readonly domain: string
  /** The rate of its campaign; null for no bound. */
  readonly perMinute: number | null
  /** The sender whose ramp bounds it; null without a ramp. */
  readonly senderId: SenderId | null
}

/** The messages that a claim has locked, those of the organization and campaign whose turn it is first, and what bounds them. */
export interface DueMessages {
  readonly now: number
  readonly candidates: ReadonlyArray<DueMessage>
  /** When the next slot of each locked rate begins. */
  readonly rates: Readonly<Record<string, number>>
  /** How many messages each sender may still send, and the day of UTC that counts them. */
  readonly ramps: Readonly<Record<SenderId, { readonly slots: number; readonly day: string }>>
  /** Until when a campaign leaves a domain alone that rejected us. */
  readonly pauses: ReadonlyArray<{ readonly campaignId: CampaignId; readonly domain: string; readonly until: number }>
  /** The organizations whose turns this claim holds; null where another claim does. */
  readonly heldOrganizations: ReadonlyArray<OrganizationId> | null
  readonly heldCampaigns: ReadonlyArray<CampaignKey>
  /** Campaigns that had something to send when the slots were shared. */
  readonly waitingCampaigns: ReadonlyArray<CampaignId>
}

/** Bounds over all campaigns; null for none. */
export interface ClaimRates {
  readonly perMinute: number | null
  readonly perDomainMinute: number | null
}

export interface ClaimDecision {
  readonly leases: ReadonlyArray<DueMessage>
  readonly deferrals: ReadonlyArray<Deferral>
  /** When the next slot of each used rate begins. */
  readonly rates: Readonly<Record<string, number>>
  readonly ramps: ReadonlyArray<{
    readonly organizationId: OrganizationId
    readonly senderId: SenderId
    readonly day: string
    readonly times: number
  }>
  readonly organizations: ReadonlyArray<OrganizationId> | null
  readonly campaigns: ReadonlyArray<CampaignKey>
  /** The campaign of each message that was leased or deferred, in the order of the candidates. */
  readonly served: ReadonlyArray<CampaignKey>
}

/** A message that becomes due later: at `until`, or behind the others of its scope. */
export interface Deferral extends Pick<DueMessage, "organizationId" | "recipientId"> {
  readonly until: number
  /** The queue of its campaign for a rate; null where a pause defers it. */
  readonly scope: string | null
  /** How many of this claim are before it in that queue. */
  readonly rank: number
  readonly perMinute: number | null
}

/** Unused slots of a rate are kept for one second, so that a late claim does not slow the sending down. */
const SAVED_SECONDS = 1

/** When the next slot of a rate begins, not counting slots that are older than what is saved. */
const slotFrom = (nextAt: number | undefined, now: number): number => Math.max(nextAt ?? 0, now - SAVED_SECONDS)

/** Returns how many messages a rate allows now; any number without a rate. */
export const openSlots = (nextAt: number | undefined, perMinute: number | null, now: number): number =>
  perMinute === null ? Infinity : Math.max(0, 1 + Math.floor(((now - slotFrom(nextAt, now)) * perMinute) / 60))

/** Returns when the next slot of a rate begins after it was used. */
export const nextSlot = (nextAt: number | undefined, perMinute: number, now: number, times: number): number =>
  slotFrom(nextAt, now) + (times * 60) / perMinute

/** The rates that bound a message. Those with `isDeferring` hold up messages until a slot is free. */
const ratesOf = (
  { campaignId, domain, perMinute }: DueMessage,
  bounds: ClaimRates,
): ReadonlyArray<{ readonly name: string; readonly perMinute: number | null; readonly isDeferring: boolean }> => [
  { name: `domain ${domain}`, perMinute: bounds.perDomainMinute, isDeferring: true },
  { name: `campaign ${campaignId}`, perMinute, isDeferring: false },
  { name: "all", perMinute: bounds.perMinute, isDeferring: false },
]

/**
 * Decides which of the due messages are leased, at most `limit`, and when others become due.
 *
 * A message is leased if its campaign's pauses, its sender's ramp, and the rates of its domain, its campaign and of all
 * leave it a slot, in the order of turns; only a leased message uses slots. What a pause or the rate of a domain
 * holds up is deferred, so that claims do not look at it until then. What the other bounds hold up stays due.
 */
export const decideClaim = (due: DueMessages, bounds: ClaimRates, limit: number): ClaimDecision => {
  const { now, ramps } = due
  const slotsOf = (name: string, perMinute: number | null) => openSlots(due.rates[name], perMinute, now)
  const pauses = new Map(due.pauses.map(({ campaignId, domain, until }) => [`${campaignId} ${domain}`, until]))
  /** How many messages were leased by each rate. */
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
    // A campaign that had something to send, and was left no slot, keeps its turn.
    campaigns: due.heldCampaigns.filter(
      ({ campaignId }) => !waiting.has(campaignId) || servedCampaigns.has(campaignId),
    ),
    served,
  }
}
