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

/** How the queues stand, over all workers, at one moment. */
export interface GaugeReading {
  /** Of the enabled endpoints; what waits for a disabled one is not due. */
  readonly due: Readonly<Record<DueQueue, Due>>
  readonly inFlight: number
  readonly breakersOpen: number
  /** Dead letters that were not replayed. */
  readonly deadLetters: Readonly<Record<DeadLetterReason, number>>
  /** E-mails of campaigns whose window is open. */
  readonly messages: Due
  /** The rows of the delivery queue, and the remains of rows in it, as the database's statistics have them. */
  readonly queue: { readonly rows: number; readonly deadRows: number }
  readonly horizon: Readonly<Record<HorizonHolder, { readonly transactions: number; readonly seconds: number }>>
}

/** How far `DeliveryGauges` counts; what is more shows as this many. */
export const COUNTED_TO = 10_000

/** Tells operators how the queues stand. */
export class DeliveryGauges extends Context.Service<
  DeliveryGauges,
  {
    /** Reads everything in one statement, whose cost does not grow with what waits; counts end at `COUNTED_TO`. */
    readonly read: Effect.Effect<GaugeReading>
  }
>()("domain/deliveries/DeliveryGauges") {}
