import { Context, type Effect, type Redacted } from "effect"
import type { DeliveryId, EndpointId, EventId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Attempt, DeadLetterReason, Delivery } from "./Delivery.ts"
import type { EndpointUrl } from "./Endpoint.ts"

/** How many workers may be lost with calls of one delivery before it becomes a dead letter as poison. */
export const MAX_LOSSES = 5
/** From so many lost workers on, a delivery is sent alone. */
export const ALONE_FROM_LOSSES = 3

/** An endpoint that a worker owns. */
export interface OwnedEndpoint {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  /** Rises with every change of the endpoint, or of the secrets that sign for it. */
  readonly version: number
  readonly enabled: boolean
  readonly url: EndpointUrl
  /** The most calls in flight to it; null for the worker's own bound. */
  readonly maxInFlight: number | null
  readonly standardWebhooks: boolean
  readonly failures: number
  readonly allowance: number | null
  /** Until its next probe. */
  readonly probeInMs: number
  /** Calls of a worker that gave the endpoint up and has not finished. */
  readonly inFlightElsewhere: number
}

/** A secret that signs. */
export interface SigningSecret {
  readonly secret: Redacted.Redacted
  /** For how long it signs; null for no end. */
  readonly endsInMs: number | null
}

/** What became of a delivery with a call. */
export type Settlement =
  | { readonly state: "delivered" }
  | { readonly state: "retry"; readonly delaySeconds: number }
  | { readonly state: Exclude<DeadLetterReason, "poison"> }

/** What came of a call. */
export interface Outcome {
  readonly delivery: Delivery
  /** The endpoint's version by which it was called. */
  readonly version: number
  readonly attempt: Attempt
  readonly settlement: Settlement
}

/** A place in the log of an organization. */
export interface Place {
  readonly emittedAt: Timestamp
  readonly id: EventId
}

/** What a worker writes of one endpoint. */
export interface Progress {
  readonly endpointId: EndpointId
  /** The events for which calls may have begun, and that are not settled; undefined to leave the row as it is. */
  readonly open: ReadonlyArray<EventId> | undefined
  /** Up to where calls may begin from now on: the intent that goes before them; undefined when nothing was read. */
  readonly place: Place | undefined
  /** What its breaker has come to; undefined when it is as it was. */
  readonly breaker:
    | {
        readonly version: number
        readonly failures: number
        readonly allowance: number | null
        readonly probeInMs: number
      }
    | undefined
  readonly outcomes: ReadonlyArray<Outcome>
}

/** What became of what a worker wrote. */
export interface Written {
  /** The endpoints, and the rows, that are no longer the worker's, of which nothing was written. */
  readonly refused: ReadonlySet<EndpointId | DeliveryId>
  /** What was rejected, and is due again, because its endpoint has changed since the call began. */
  readonly again: ReadonlySet<DeliveryId>
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

/** How many deliveries are wanted for an endpoint. */
export interface Wanted {
  readonly endpointId: EndpointId
  readonly limit: number
}

/**
 * The endpoints as readers of their organizations' logs, each owned by one worker at a time.
 *
 * A worker is known by a token, and lives while it says so often enough. What it owned may be taken once it does not.
 */
export class EndpointReaders extends Context.Service<
  EndpointReaders,
  {
    /**
     * Reports that a worker lives, for so many seconds; returns its rank among the living, from 0, how many they are, how many
     * endpoints are enabled, and the sum of the versions of all.
     */
    live(
      worker: string,
      leaseSeconds: number,
    ): Effect.Effect<{
      readonly rank: number
      readonly workers: number
      readonly endpoints: number
      readonly versions: number
    }>
    /** Takes enabled endpoints that no living worker owns; returns how many, and from how many lost workers' hands. */
    take(worker: string, limit: number): Effect.Effect<{ readonly taken: number; readonly takenOver: number }>
    /** Reads the endpoints that a worker owns. */
    owned(worker: string): Effect.Effect<ReadonlyArray<OwnedEndpoint>>
    /** Reads the secrets that sign for organizations; none for one of which they cannot all be decrypted. */
    secrets(
      organizationIds: ReadonlyArray<OrganizationId>,
    ): Effect.Effect<ReadonlyMap<OrganizationId, ReadonlyArray<SigningSecret>>>
    /** Notes the calls that lost workers may have made to the worker's endpoints as `outcome_unknown`; they are due again, under the same number. */
    recover(worker: string): Effect.Effect<ReadonlyArray<LostDelivery>>
    /** Gives endpoints up. Calls that have begun, and outcomes that are not written, stay the worker's. */
    handOver(worker: string, endpoints: ReadonlyArray<GivenUp>): Effect.Effect<void>
    /** Reports that a worker takes no more endpoints, and lives on for its calls. */
    stop(worker: string): Effect.Effect<void>
    /** Reports that a worker is gone. */
    leave(worker: string): Effect.Effect<void>
    /** Reads on in the logs, behind the places that were written last. Calls may begin once `write` has written the new ones. Passes over what is not the worker's. */
    read(worker: string, wanted: ReadonlyArray<Wanted>): Effect.Effect<ReadonlyArray<Delivery>>
    /** Takes deliveries that are due with a row of their own: what was lost first, then retries, then replays. */
    takeDue(worker: string, wanted: ReadonlyArray<Wanted>): Effect.Effect<ReadonlyArray<Delivery>>
    /** Gives back rows of endpoints that stand under the worker's name, but for those that it knows of: the response to `takeDue` was lost. */
    keepOnly(
      worker: string,
      endpoints: ReadonlyArray<EndpointId>,
      known: ReadonlyArray<DeliveryId>,
    ): Effect.Effect<void>
    /** Writes intents, and what came of calls. */
    write(worker: string, progress: ReadonlyArray<Progress>): Effect.Effect<Written>
    /** Finds the worker's endpoints whose organization has published since what they read last. */
    behind(worker: string): Effect.Effect<ReadonlyArray<EndpointId>>
    /** Finds the organizations that wrote within so many seconds. */
    wrote(withinSeconds: number): Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Reads when the next row is due of these endpoints, or of all that are the worker's; endpoints without a row are left out. */
    nextDue(
      worker: string,
      endpoints?: ReadonlyArray<EndpointId>,
    ): Effect.Effect<ReadonlyArray<{ readonly endpointId: EndpointId; readonly inMs: number }>>
  }
>()("domain/deliveries/EndpointReaders") {}
