import type { CampaignId, OrganizationId, SenderId } from "../Identifier.ts"
import type { MessageLease } from "./Message.ts"

type CampaignKey = Pick<MessageLease, "organizationId" | "campaignId">

/** A message that is due, locked by the claim that decides about it. Times are seconds since 1970. */
export interface DueMessage extends Omit<MessageLease, "leaseToken" | "fields" | "ramp"> {
  /** The domain of the address, in lower case. */
  readonly domain: string
  /** Who runs the domain's mail servers; the domain itself where nobody knows. */
  readonly operator: string
  /** The rate of its campaign; null for no bound. */
  readonly perMinute: number | null
  /** The sender whose ramp bounds it; null without a ramp. */
  readonly senderId: SenderId | null
  /** When the campaign's hours open for the recipient; null where they do not bound it. */
  readonly opensAt: Time | null
}

/** Seconds since 1970. JSON has no number for infinity, so that the database writes it as a text. */
type Time = number | "Infinity"

/** The messages that a claim has locked, those of the organization and campaign whose turn it is first, and what bounds them. */
export interface DueMessages {
  readonly now: number
  readonly candidates: ReadonlyArray<DueMessage>
  /** When the next slot of each locked rate begins. */
  readonly rates: Readonly<Record<string, number>>
  /** How many messages each sender may still send, and the day of UTC that counts them. */
  readonly ramps: Readonly<Record<SenderId, { readonly slots: number; readonly day: string }>>
  /** Until when a campaign leaves a domain alone that rejected us. */
  readonly pauses: ReadonlyArray<{ readonly campaignId: CampaignId; readonly domain: string; readonly until: Time }>
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
  readonly perOperatorMinute: number | null
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
  /** Null for infinity, as JSON writes it. */
  readonly until: number
  /** The queue of its campaign for a rate; null where a pause or the hours defer it. */
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

/** Creates a counter by names, which returns how often a name was counted before. */
const createTally = () => {
  const counts = new Map<string, number>()
  return (name: string): number => {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  }
}

/**
 * Decides which of the due messages are leased, at most `limit`, and when others become due.
 *
 * A message is leased if its sender's ramp, its campaign's hours and pauses, and the rates of its domain, its operator, its campaign and of all
 * leave it a slot, in the order of turns. What a pause, the hours, or the rate of a domain or an operator holds up is deferred, so that claims
 * do not look at it until then. What the other bounds hold up stays due.
 */
export const decideClaim = (due: DueMessages, bounds: ClaimRates, limit: number): ClaimDecision => {
  const { now, ramps } = due
  const slotsOf = (scope: string, perMinute: number | null) => openSlots(due.rates[scope], perMinute, now)
  const pauses = new Map(due.pauses.map(({ campaignId, domain, until }) => [`${campaignId} ${domain}`, Number(until)]))
  const [placeIn, rankInRamp, rankInDeferral] = [createTally(), createTally(), createTally()]
  const leases: DueMessage[] = []
  const deferrals: Deferral[] = []
  const served: CampaignKey[] = []
  const isOpen = (scope: string, perMinute: number | null) => placeIn(scope) < slotsOf(scope, perMinute)

  for (const message of due.candidates) {
    const { organizationId, campaignId, recipientId, senderId } = message
    const ramp = senderId === null ? undefined : ramps[senderId]
    if (ramp !== undefined && rankInRamp(senderId!) >= ramp.slots) continue
    const until = Math.max(pauses.get(`${campaignId} ${message.domain}`) ?? 0, Number(message.opensAt ?? 0))
    const [domain, operator] = [`domain ${message.domain}`, `operator ${message.operator}`]
    const full =
      until > now
        ? undefined
        : !isOpen(domain, bounds.perDomainMinute)
          ? { name: domain, perMinute: bounds.perDomainMinute! }
          : !isOpen(operator, bounds.perOperatorMinute)
            ? { name: operator, perMinute: bounds.perOperatorMinute! }
            : null
    if (full === undefined) {
      deferrals.push({ organizationId, recipientId, until, scope: null, rank: 0, perMinute: null })
    } else if (full !== null) {
      const { name, perMinute } = full
      const scope = `deferral ${campaignId} ${name}`
      const free = nextSlot(due.rates[name], perMinute, now, slotsOf(name, perMinute))
      deferrals.push({ organizationId, recipientId, until: free, scope, rank: rankInDeferral(scope), perMinute })
    } else {
      if (!isOpen(`campaign ${campaignId}`, message.perMinute)) continue
      if (leases.length >= Math.min(limit, slotsOf("all", bounds.perMinute))) continue
      leases.push(message)
    }
    served.push({ organizationId, campaignId })
  }
  const servedCampaigns = new Set(served.map(({ campaignId }) => campaignId))
  const waiting = new Set(due.waitingCampaigns)
  return {
    leases,
    deferrals,
    rates: countByRates(leases, due, bounds),
    ramps: countByRamps(leases, due),
    organizations: due.heldOrganizations,
    // A campaign that had something to send, and was left no slot, keeps its turn.
    campaigns: due.heldCampaigns.filter(
      ({ campaignId }) => !waiting.has(campaignId) || servedCampaigns.has(campaignId),
    ),
    served,
  }
}

const countByRates = (
  leases: ReadonlyArray<DueMessage>,
  { rates, now }: DueMessages,
  { perMinute, perDomainMinute, perOperatorMinute }: ClaimRates,
): Readonly<Record<string, number>> => {
  const used: Record<string, number> = {}
  for (const message of leases) {
    const scopes = [
      ["all", perMinute],
      [`campaign ${message.campaignId}`, message.perMinute],
      [`domain ${message.domain}`, perDomainMinute],
      [`operator ${message.operator}`, perOperatorMinute],
    ] as const
    for (const [scope, rate] of scopes) {
      if (rate !== null) used[scope] = nextSlot(used[scope] ?? rates[scope], rate, now, 1)
    }
  }
  return used
}

const countByRamps = (leases: ReadonlyArray<DueMessage>, { ramps }: DueMessages): ClaimDecision["ramps"] => {
  const used = new Map<SenderId, ClaimDecision["ramps"][number]>()
  for (const { organizationId, senderId } of leases) {
    const ramp = senderId === null ? undefined : ramps[senderId]
    if (senderId === null || ramp === undefined) continue
    const times = (used.get(senderId)?.times ?? 0) + 1
    used.set(senderId, { organizationId, senderId, day: ramp.day, times })
  }
  return [...used.values()]
}
