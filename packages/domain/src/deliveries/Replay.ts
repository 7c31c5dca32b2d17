import type { EndpointId, ReplayId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { DeadLetterReason } from "./Delivery.ts"

/** A job that replays dead letters at a steady rate: those that were there when it was made. */
export interface Replay {
  readonly id: ReplayId
  readonly state: "running" | "finished" | "cancelled"
  /** How many dead letters were meant when the job was made. */
  readonly total: number
  /** How many it has replayed; fewer than `total` at the end when others were replayed or purged meanwhile. */
  readonly replayed: number
  /** Deliveries a second. */
  readonly rate: number
  /** What the dead letters must fulfil; null for any. */
  readonly endpointId: EndpointId | null
  readonly eventType: string | null
  readonly reason: DeadLetterReason | null
  readonly from: Timestamp | null
  readonly to: Timestamp | null
  readonly createdAt: Timestamp
  readonly finishedAt: Timestamp | null
  readonly cancelledAt: Timestamp | null
}
