import { Context, type Effect, type Redacted, Schema, Struct } from "effect"
import { type DeliveryId, EndpointId, type EventId, type OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Attempt, DeadLetterReason, Delivery } from "./Delivery.ts"
import { Endpoint, StoredEndpointUrl } from "./Endpoint.ts"

/** How many workers may be lost with calls of one delivery before it becomes a dead letter as poison. */
export const MAX_LOSSES = 5
/** How many workers must be lost with a delivery until it is sent alone. */
export const ALONE_FROM_LOSSES = 3

export const OwnedEndpoint = Schema.Struct({
  endpointId: EndpointId,
  ...Struct.pick(Endpoint.fields, [
    "organizationId",
    "version",
    "enabled",
    "maxInFlight",
    "perSecond",
    "retryStatuses",
    "retryDelays",
    "disableOnGone",
    "standardWebhooks",
  ]),
  url: StoredEndpointUrl,
  failures: Schema.Int,
  allowance: Schema.NullOr(Schema.Int),
  probeInMs: Schema.Number,
  /** Calls of workers that gave the endpoint up and have not finished. */
  inFlightElsewhere: Schema.Int,
})
export type OwnedEndpoint = typeof OwnedEndpoint.Type

export interface SigningSecret {
  readonly secret: Redacted.Redacted
  /** For how long it signs; null for no end. */
  readonly endsInMs: number | null
}

/** What follows for a delivery from a call. */
export type Settlement =
  | { readonly state: "delivered" }
  | { readonly state: "retry"; readonly delaySeconds: number }
  /** It is due again, and its endpoint is disabled until somebody enables it. */
  | { readonly state: "gone" }
  | { readonly state: Exclude<DeadLetterReason, "poison"> }

export interface Outcome {
  readonly delivery: Delivery
  /** The endpoint's version by which it was called. */
  readonly version: number
  /** Null if no call was made, or if it failed by a defect of ours: the delivery keeps the number of its attempt, and must be retried. */
  readonly attempt: Attempt | null
  readonly settlement: Settlement
}

/** An event in the order of its organization's log. */
export interface LogCursor {
  readonly emittedAt: Timestamp
  readonly id: EventId
}

/** What a worker writes about one endpoint. */
export interface Progress {
  readonly endpointId: EndpointId
  /** The events for which calls may have begun, and that are not settled; undefined to leave the row as it is. */
  readonly open: ReadonlyArray<EventId> | undefined
  /** The last event for which a call may begin from now on: the intent that goes before calls; undefined when nothing was read. */
  readonly intent: LogCursor | undefined
  /** The state of its breaker; undefined when it has not changed. */
  readonly breaker: Pick<OwnedEndpoint, "version" | "failures" | "allowance" | "probeInMs"> | undefined
  readonly outcomes: ReadonlyArray<Outcome>
}

/** The database's reply to what a worker wrote. */
export interface Written {
  /** The endpoints and rows that are no longer the worker's: nothing was written about them. */
  readonly refused: ReadonlySet<EndpointId | DeliveryId>
  /** Deliveries that were rejected or gone and are due again, because the endpoint has changed since the call began. */
  readonly again: ReadonlySet<DeliveryId>
  /** Endpoints that a delivery found gone, and that were disabled for it. */
  readonly disabled: ReadonlySet<EndpointId>
}

/** A delivery whose worker was lost with its call, and whether it became a dead letter for it. */
export interface LostDelivery {
  readonly deliveryId: DeliveryId
  readonly endpointId: EndpointId
  readonly poison: boolean
}

/** An endpoint that a worker gives up. */
export interface GivenUp {
  readonly endpointId: EndpointId
  /** The events of the log whose calls have begun, and are not settled. */
  readonly calling: ReadonlyArray<EventId>
  /** The rows that were taken, and whose calls have not begun. */
  readonly unbegun: ReadonlyArray<DeliveryId>
}

/** How a worker stands among the others, and what has changed since it asked last. */
export interface Standing {
  /** From 0, among the living workers. */
  readonly rank: number
  readonly workers: number
  /** The number of enabled endpoints; null when it has not changed. */
  readonly endpoints: number | null
  /** The endpoints, of whatever worker, of which something may have changed, such as who owns them. */
  readonly changed: ReadonlyArray<EndpointId>
  /** The organizations that may have written to their logs, each with its last stamp, to be compared with an earlier one alone. */
  readonly written: ReadonlyArray<{ readonly organizationId: OrganizationId; readonly last: string }>
  /** What the next question goes on from. */
  readonly snapshot: string
}

export interface Wanted {
  readonly endpointId: EndpointId
  readonly limit: number
  /** Whether rows are taken of replays, too. Default true. */
  readonly takesReplays?: boolean
}

/**
 * The leases of endpoints. Each endpoint belongs to one worker at a time, which alone reads its log and delivers to it.
 *
 * A worker is known by a token, and lives while its heartbeats are frequent enough. Other workers may acquire its endpoints once it does not.
 */
export class DeliveryLeases extends Context.Service<
  DeliveryLeases,
  {
    /** Reports that a worker lives, for `leaseSeconds`. Without an earlier `snapshot` nothing is told of changes. */
    heartbeat(worker: string, leaseSeconds: number, snapshot?: string): Effect.Effect<Standing>
    /** Acquires enabled endpoints that no living worker owns; returns their number, and how many of them lost workers owned. */
    acquire(worker: string, limit: number): Effect.Effect<{ readonly taken: number; readonly takenOver: number }>
    /** Lists the worker's endpoints: all, or those of them that are among `endpoints`. */
    listOwned(worker: string, endpoints?: ReadonlyArray<EndpointId>): Effect.Effect<ReadonlyArray<OwnedEndpoint>>
    /** Reads the secrets that sign for endpoints; none for an endpoint if one of them cannot be decrypted. */
    secrets(endpoints: ReadonlyArray<EndpointId>): Effect.Effect<ReadonlyMap<EndpointId, ReadonlyArray<SigningSecret>>>
    /** Records the calls that lost workers may have made to the worker's endpoints as `outcome_unknown`; they are due again, under the same number. */
    recoverLost(worker: string): Effect.Effect<ReadonlyArray<LostDelivery>>
    /** Gives endpoints up. Calls that have begun, and outcomes that are not written, stay the worker's. */
    handOver(worker: string, endpoints: ReadonlyArray<GivenUp>): Effect.Effect<void>
    /** Reports that a worker acquires no more endpoints, and lives on for its calls. */
    stop(worker: string): Effect.Effect<void>
    /** Reports that a worker is gone. */
    leave(worker: string): Effect.Effect<void>
    /** Reads on in the logs after the last written intent. Calls may begin once `write` has written the new one. Endpoints of other workers are passed over. */
    read(worker: string, wanted: ReadonlyArray<Wanted>): Effect.Effect<ReadonlyArray<Delivery>>
    /** Takes deliveries that are due with a row of their own: lost ones first, then retries, then replays. */
    takeDue(worker: string, wanted: ReadonlyArray<Wanted>): Effect.Effect<ReadonlyArray<Delivery>>
    /** Releases the rows that the worker holds without knowing it, because the response to `takeDue` was lost. */
    releaseUnknown(
      worker: string,
      endpoints: ReadonlyArray<EndpointId>,
      known: ReadonlyArray<DeliveryId>,
    ): Effect.Effect<void>
    /** Writes progress. If it fails, the same outcomes of an endpoint must be written together again: those that were written before count once. */
    write(worker: string, progress: ReadonlyArray<Progress>): Effect.Effect<Written>
    /** Reads when the next row of these endpoints is due, and the next that is a replay; or of all endpoints of the worker. */
    nextDue(
      worker: string,
      endpoints?: ReadonlyArray<EndpointId>,
    ): Effect.Effect<
      ReadonlyArray<{ readonly endpointId: EndpointId; readonly inMs: number; readonly isReplay: boolean }>
    >
  }
>()("domain/deliveries/DeliveryLeases") {}
