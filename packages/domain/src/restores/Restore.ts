import { Schema } from "effect"
import { CAMPAIGN_STATUSES, TRANSITIONS } from "../campaigns/Campaign.ts"
import { CampaignId, EndpointId, OrganizationId, RestoreId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** Why nothing is sent: a restore is under way, or the database is not on the server where the workers last saw it. */
export const RestoreFault = Schema.Literals(["restoring", "moved"])
export type RestoreFault = typeof RestoreFault.Type

/**
 * Where a database is, and whether it may be sent from. An identity is a system identifier, a timeline, and the mark of the server that began it:
 * `7711060699332017234/00000002/0-3000148@1795471234.123456`.
 */
export const DatabaseStanding = Schema.Struct({
  fault: Schema.NullOr(RestoreFault),
  /** Where the workers last saw it; null before any did. */
  recorded: Schema.NullOr(Schema.String),
  /** Where it is; null if the server does not say. */
  current: Schema.NullOr(Schema.String),
  /** For how long no worker that may send has seen it; null before any did. */
  unseenSeconds: Schema.NullOr(Schema.Finite),
  /** The server's clock, in Unix milliseconds. */
  now: Schema.Finite,
})
export type DatabaseStanding = typeof DatabaseStanding.Type

/** How far the clocks of the database and of a process may be apart, before one of them is wrong. */
const MAX_APART_MS = 3_600_000

/** Reports whether two times in Unix milliseconds are so far apart that a clock must be wrong. */
export const areApart = (one: number, other: number): boolean => Math.abs(one - other) > MAX_APART_MS

/**
 * Decides whether a worker serves a database, serves it and records where it is, or waits for an operator.
 *
 * A promotion changes the timeline, after a failover as after a restore. After a failover the workers saw the database a moment ago.
 */
export const decideService = (
  { fault, recorded, current, unseenSeconds }: Omit<DatabaseStanding, "now">,
  /** How long a failover without loss may take; 0 when every promotion waits for an operator. */
  failoverSeconds: number,
): "serve" | "record" | "wait" => {
  if (fault === "restoring") return "wait"
  if (fault === null) return recorded === null && current !== null ? "record" : "serve"
  const isSameCluster = recorded?.split("/")[0] === current?.split("/")[0]
  const isFailover = failoverSeconds > 0 && unseenSeconds !== null && unseenSeconds <= failoverSeconds
  return isSameCluster && isFailover ? "record" : "wait"
}

export const Restore = Schema.Struct({
  id: RestoreId,
  /** Nothing that was committed later is in the database. */
  restoredTo: Timestamp,
  /** The commit that the server replayed last; null if it no longer knows. */
  lastTransactionAt: Schema.NullOr(Timestamp),
  begunAt: Timestamp,
  /** When a mail server's log was last read for it; null if none was. */
  mailLogReadAt: Schema.NullOr(Timestamp),
  finishedAt: Schema.NullOr(Timestamp),
})
export type Restore = typeof Restore.Type

/** The statuses in which a campaign may have sent e-mails after the point without an operator. */
export const MAY_HAVE_SENT = TRANSITIONS.pause.from

/** A campaign that a restore has paused, because it may have sent e-mails after the point. */
export const RestoredCampaign = Schema.Struct({
  organizationId: OrganizationId,
  id: CampaignId,
  name: Schema.String,
  /** Before the restore paused it. */
  statusBefore: Schema.Literals(CAMPAIGN_STATUSES),
  status: Schema.Literals(CAMPAIGN_STATUSES),
  /** Recipients who were neither sent to, nor bounced, nor withdrawn, as far as the database knows. */
  unsent: Schema.Int,
})
export type RestoredCampaign = typeof RestoredCampaign.Type

/** An endpoint in a restored database: it receives again the events after a position that it had already passed. */
export const RestoredEndpoint = Schema.Struct({
  id: EndpointId,
  url: Schema.String.pipe(Schema.brand("ShownUrl")),
  repeatsFrom: Timestamp,
})

export const RestoredOrganization = Schema.Struct({
  id: OrganizationId,
  name: Schema.String,
  /** The newest commit timestamp that was restored. */
  restoredAt: Timestamp,
  /** Every commit timestamp from now on is later than this, and than all that were handed out before. */
  fencedAt: Timestamp,
  endpoints: Schema.Array(RestoredEndpoint),
})
export type RestoredOrganization = typeof RestoredOrganization.Type

/** How much earlier than the point the inbound events begin that partners send again, because their clocks differ from ours. */
export const INBOUND_OVERLAP_SECONDS = 300
