import type { EndpointId, ReplayId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { DeadLetterReason } from "./Delivery.ts"

/**
 * A job that delivers again at a steady rate: dead letters that were there when it was made, or a range of an endpoint's log,
 * delivered or not.
 */
export interface Replay {
  readonly id: ReplayId
  readonly kind: "dead_letters" | "log"
  readonly state: "running" | "finished" | "cancelled"
  /** How many dead letters or events were meant when the job was made. */
  readonly total: number
  /** How many it has replayed; fewer than `total` at the end when others were replayed or purged meanwhile. */
  readonly replayed: number
  /** Deliveries a second. */
  readonly rate: number
  /** What the dead letters must fulfil; null for any. */
  readonly endpointId: EndpointId | null
  readonly eventType: string | null
  readonly reason: DeadLetterReason | null
  /** The types of a log's events; null for all. */
  readonly eventTypes: ReadonlyArray<string> | null
  /** When the deliveries became dead letters, or the events published. */
  readonly from: Timestamp | null
  readonly to: Timestamp | null
  readonly createdAt: Timestamp
  readonly finishedAt: Timestamp | null
  readonly cancelledAt: Timestamp | null
}
