import { Context, type Effect } from "effect"
import type { DeadLetterReason } from "./Delivery.ts"

/**
 * What is due waits for one of three reasons: its turn (`live`), an endpoint that fails and is only probed (`probed`), or everything
 * else, because an operator asked for it again (`replay`).
 */
export const DUE_QUEUES = ["live", "probed", "replay"] as const
export type DueQueue = (typeof DUE_QUEUES)[number]

/** Who may keep the database from clearing up what was deleted. */
export const HORIZON_HOLDERS = ["session", "replication_slot", "prepared_transaction"] as const
export type HorizonHolder = (typeof HORIZON_HOLDERS)[number]

/** What waits, and for how long the first of it has been due; 0 s when nothing is. */
export interface Due {
  readonly count: number
  readonly oldestSeconds: number
}

/** The deliveries of a queue that wait, and of the endpoint that is furthest behind. */
export interface DueDeliveries extends Due {
  /** The most that wait for one endpoint, of the `LAGS_COUNTED` that have waited longest: in its log, or as replays. */
  readonly maxLagEvents: number
  /** For how long the first of them has waited, at the endpoint that has waited longest. */
  readonly maxLagSeconds: number
}

/** What is due and not in flight. */
export interface DueReading {
  /** Of the enabled endpoints; what waits for a disabled one is not due. Each queue is counted up to `COUNTED_TO`. */
  readonly deliveries: Readonly<Record<DueQueue, DueDeliveries>>
  /** E-mails of campaigns whose window is open. */
  readonly messages: Due
  /** Inbound events that wait to be applied, since their receipt. */
  readonly inbox: Due
  /** Hits that wait to be judged, since they came. */
  readonly hits: Due
  /** Recipients who asked to be written to no more and are not suppressed yet. */
  readonly unsubscriptions: Due
}

/** How the deliveries stand otherwise, and what keeps the database from clearing up behind them. */
export interface StateReading {
  readonly inFlight: number
  readonly breakersOpen: number
  /** How far the clock of an organization is ahead of the database's, at most; stamps go on from there. */
  readonly clockAheadSeconds: number
  /** Dead letters that were not replayed. */
  readonly deadLetters: Readonly<Record<DeadLetterReason, number>>
  /** E-mails that nobody knows to be delivered or not, and that are not tried again. */
  readonly messagesQuarantined: number
  /** Inbound events that are quarantined. */
  readonly inboxQuarantined: number
  /** The rows of the delivery queue, and the remains of rows in it, as the database's statistics have them. */
  readonly queue: { readonly rows: number; readonly deadRows: number }
  readonly horizon: Readonly<Record<HorizonHolder, { readonly transactions: number; readonly seconds: number }>>
}

/** Of how many endpoints of a queue it is counted what waits for each. */
export const LAGS_COUNTED = 20

/** How far `DeliveryGauges` counts what is due, and dead letters; what is more shows as this many. */
export const COUNTED_TO = 10_000

/** Tells operators how the queues stand, over all workers; each reading is one statement, whose cost does not grow with what waits. */
export class DeliveryGauges extends Context.Service<
  DeliveryGauges,
  {
    /** Costs more the more remains of rows the database was kept from clearing up. */
    readonly readDue: Effect.Effect<DueReading>
    readonly readState: Effect.Effect<StateReading>
  }
>()("domain/deliveries/DeliveryGauges") {}
