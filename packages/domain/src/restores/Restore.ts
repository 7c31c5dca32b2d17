import { Schema } from "effect"
import { CAMPAIGN_STATUSES } from "../campaigns/Campaign.ts"
import { CampaignId, EndpointId, OrganizationId, RestoreId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** Reason for not sending: a restore is in progress, or the database isn't on the server where the workers last saw it. */
export const RestoreFault = Schema.Literals(["restoring", "moved"])
export type RestoreFault = typeof RestoreFault.Type

/**
 * A database's identity, and whether it may be used for sending. An identity is a system identifier, a timeline, and the mark of the server that started it:
 * `7711060699332017234/00000002/0-3000148@1795471234.123456`.
 */
export const DatabaseState = Schema.Struct({
  fault: Schema.NullOr(RestoreFault),
  /** Identity last seen by the workers; null before the first. */
  recorded: Schema.NullOr(Schema.String),
  /** Current identity; null if the server doesn't report it. */
  current: Schema.NullOr(Schema.String),
  /** Seconds since a sending worker last saw it; null before the first. */
  unseenSeconds: Schema.NullOr(Schema.Finite),
  /** The server's clock in Unix milliseconds. */
  now: Schema.Finite,
})
export type DatabaseState = typeof DatabaseState.Type

/** Maximum difference between the clocks of the database and a process before one of them is considered wrong. */
const MAX_SKEW_MS = 3_600_000

/** Returns whether two times in Unix milliseconds differ so much that a clock must be wrong. */
export const isClockSkewed = (one: number, other: number): boolean => Math.abs(one - other) > MAX_SKEW_MS

/**
 * Returns whether a server lacks the history of another one with the identity `seen`: it is on an earlier timeline of the same cluster, or on another one
 * with the same number.
 */
export const isHistoryLost = (current: string | null, seen: string | null): boolean => {
  if (current === null || seen === null || current === seen) return false
  const [system, timeline] = current.split("/")
  const [seenSystem, seenTimeline] = seen.split("/")
  return system === seenSystem && timeline! <= seenTimeline!
}

/**
 * Decides whether a worker uses a database, uses it and records its identity, or waits for an operator.
 *
 * A promotion changes the timeline, after a failover or a restore. After a failover, the workers saw the database a moment ago.
 */
export const decideService = (
  { fault, recorded, current, unseenSeconds }: Omit<DatabaseState, "now">,
  /** Maximum duration of a lossless failover; 0 if every promotion waits for an operator. */
  failoverSeconds: number,
): "serve" | "record" | "wait" => {
  if (fault === "restoring") return "wait"
  if (fault === null) return recorded === null && current !== null ? "record" : "serve"
  const isSameCluster = recorded?.split("/")[0] === current?.split("/")[0]
  const isFailover = failoverSeconds > 0 && unseenSeconds !== null && unseenSeconds <= failoverSeconds
  return isSameCluster && isFailover && !isHistoryLost(current, recorded) ? "record" : "wait"
}

export const Restore = Schema.Struct({
  id: RestoreId,
  /** The database contains no later commits. */
  restoredTo: Timestamp,
  /** The last replayed commit; null if the server no longer knows it. */
  lastTransactionAt: Schema.NullOr(Timestamp),
  begunAt: Timestamp,
  /** When a mail server's log was last processed for it; null if none was. */
  mailLogReadAt: Schema.NullOr(Timestamp),
  finishedAt: Schema.NullOr(Timestamp),
})
export type Restore = typeof Restore.Type

/** A campaign paused by a restore, because it may have sent e-mails after the restore point. */
export const RestoredCampaign = Schema.Struct({
  organizationId: OrganizationId,
  id: CampaignId,
  name: Schema.String,
  /** Status before the restore. */
  statusBefore: Schema.Literals(CAMPAIGN_STATUSES),
  status: Schema.Literals(CAMPAIGN_STATUSES),
  /** Recipients who weren't sent to, bounced or withdrawn, according to the database. */
  unsent: Schema.Int,
})
export type RestoredCampaign = typeof RestoredCampaign.Type

/** An endpoint in a restored database: it receives again the events after an earlier position. */
export const RestoredEndpoint = Schema.Struct({
  id: EndpointId,
  url: Schema.String.pipe(Schema.brand("ShownUrl")),
  repeatsFrom: Timestamp,
})

export const RestoredOrganization = Schema.Struct({
  id: OrganizationId,
  name: Schema.String,
  /** Newest restored commit timestamp. */
  restoredAt: Timestamp,
  /** All later commit timestamps are greater than this, and than all issued before. */
  fencedAt: Timestamp,
  endpoints: Schema.Array(RestoredEndpoint),
})
export type RestoredOrganization = typeof RestoredOrganization.Type

/** How far before the restore point partners should resend inbound events, because their clocks differ from ours. */
export const INBOUND_OVERLAP_SECONDS = 300
