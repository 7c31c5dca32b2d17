import { Context, type Effect, type Redacted, Schema, Struct } from "effect"
import { DeliveryId, EndpointId, type EventId, OrganizationId } from "../Identifier.ts"
import type { CustomHeaders } from "./CustomHeaders.ts"
import type { Attempt, DeadLetterReason, Delivery } from "./Delivery.ts"
import { Endpoint, EndpointSettings, StoredEndpointUrl } from "./Endpoint.ts"

/** Number of workers lost during a delivery's calls after which it becomes a dead letter (poison). */
export const MAX_LOSSES = 5
/** Number of lost workers after which a delivery is sent alone. */
export const EXCLUSIVE_FROM_LOSSES = 3

export const OwnedEndpoint = Schema.Struct({
  endpointId: EndpointId,
  ...Struct.pick(Endpoint.fields, ["organizationId", "version", "enabled"]),
  url: StoredEndpointUrl,
  ...EndpointSettings.fields,
  failures: Schema.Int,
  allowance: Schema.NullOr(Schema.Int),
  probeInMs: Schema.Number,
  /** Unfinished calls of workers that released the endpoint. */
  inFlightElsewhere: Schema.Int,
})
export type OwnedEndpoint = typeof OwnedEndpoint.Type

export interface SigningSecret {
  readonly secret: Redacted.Redacted
  /** Remaining validity in milliseconds; null for unlimited. */
  readonly endsInMs: number | null
}

/** The secrets of an endpoint's calls. */
export interface EndpointSecrets {
  readonly signing: ReadonlyArray<SigningSecret>
  readonly headers: CustomHeaders | null
}

/** Next state of a delivery after a call. */
export type Settlement =
  | {
      readonly settlement: "retry"
      /** In seconds. */
      readonly delay: number
    }
  /** `gone`: due again; its endpoint is disabled until it is enabled. */
  | { readonly settlement: "delivered" | "gone" | Exclude<DeadLetterReason, "poison">; readonly delay?: undefined }

/** Outcome of a call, as it is written. */
export type Outcome = Settlement & {
  readonly delivery: Pick<Delivery, "isRow" | "organizationId" | "id" | "endpointId" | "eventId">
  /** Version of the endpoint used for the call. */
  readonly version: number
  /** Null if no call was made, or if it failed because of a defect: the delivery keeps its attempt number and must be retried. */
  readonly attempt: Attempt | null
}

/** Data that a worker writes about one endpoint. */
export interface Progress {
  readonly endpointId: EndpointId
  /** State of its breaker; undefined if unchanged. */
  readonly breaker?: Pick<OwnedEndpoint, "version" | "failures" | "allowance" | "probeInMs"> | undefined
  readonly outcomes: ReadonlyArray<Outcome>
}

/** The database's reply to a write. */
export interface Written {
  /** Endpoints and rows of other workers: no data was written about them. */
  readonly refused: ReadonlySet<EndpointId | DeliveryId>
  /** Rejected or gone deliveries that are due again, because the endpoint changed after the start of the call. */
  readonly again: ReadonlySet<DeliveryId>
  /** Endpoints that returned 410 and were disabled. */
  readonly disabled: ReadonlySet<EndpointId>
}

/** A delivery of a lost worker, and whether it became a dead letter. */
export const LostDelivery = Schema.Struct({ deliveryId: DeliveryId, endpointId: EndpointId, poison: Schema.Boolean })
export type LostDelivery = typeof LostDelivery.Type

/** An endpoint that a worker releases. */
export interface GivenUp {
  readonly endpointId: EndpointId
  /** Log events with started, unsettled calls. */
  readonly calling: ReadonlyArray<EventId>
  /** Rows that were taken, without a started call. */
  readonly unsent: ReadonlyArray<DeliveryId>
}

/** A worker's position among all workers, and the changes since its last heartbeat. */
export const Heartbeat = Schema.Struct({
  /** Position among the living workers, starting at 0. */
  rank: Schema.Int,
  workers: Schema.Int,
  /** Number of enabled endpoints; null if unchanged. */
  endpoints: Schema.NullOr(Schema.Int),
  /** Endpoints of any worker that may have changed, for example their owner. */
  changed: Schema.Array(EndpointId),
  /** Organizations that may have new log events, each with its last stamp, only for comparison with an earlier one. */
  written: Schema.Array(Schema.Struct({ organizationId: OrganizationId, last: Schema.String })),
  /** Start of the next heartbeat's changes. */
  snapshot: Schema.String,
})
export type Heartbeat = typeof Heartbeat.Type

/** Deliveries to read of an endpoint. */
export interface Wanted {
  readonly endpointId: EndpointId
  readonly limit: number
  /** The open events of its log that the worker has. Default none. */
  readonly events?: ReadonlyArray<EventId>
  /** Whether to also take rows of replays. Default true. */
  readonly takesReplays?: boolean
}

/** The time until an endpoint's next row, or its next replay, is due. */
export const NextDue = Schema.Struct({ endpointId: EndpointId, inMs: Schema.Number, isReplay: Schema.Boolean })
export type NextDue = typeof NextDue.Type

/**
 * Leases of endpoints. Each endpoint belongs to one worker at a time, which reads its log and delivers to it.
 *
 * A worker is identified by a token, and is alive while its heartbeats are frequent enough. Otherwise other workers may acquire its endpoints.
 */
export class DeliveryLeases extends Context.Service<
  DeliveryLeases,
  {
    /** Registers a worker with its process, and ends the leases of those whose processes have ended. */
    enter(worker: string, process: string | null, hasEnded: (process: string) => boolean): Effect.Effect<void>
    /**
     * Renews a worker's lease for `leaseSeconds`. Without an earlier `snapshot`, all endpoints are counted and no changes are reported. With null, the
     * endpoints aren't read at all.
     */
    heartbeat(worker: string, leaseSeconds: number, snapshot?: string | null): Effect.Effect<Heartbeat>
    /** Acquires enabled endpoints without a living owner. Returns their number, and how many belonged to lost workers. */
    acquire(worker: string, limit: number): Effect.Effect<{ readonly taken: number; readonly takenOver: number }>
    /** Lists the worker's endpoints, or those among `endpoints`. */
    listOwned(worker: string, endpoints?: ReadonlyArray<EndpointId>): Effect.Effect<ReadonlyArray<OwnedEndpoint>>
    /** Reads the secrets of endpoints; none for an endpoint if one of them can't be decrypted, or if its headers have a later version. */
    secrets(
      endpoints: ReadonlyArray<Pick<OwnedEndpoint, "endpointId" | "version">>,
    ): Effect.Effect<ReadonlyMap<EndpointId, EndpointSecrets>>
    /** Records possible calls of lost workers to the worker's endpoints as `outcome_unknown`. They are due again with the same attempt number. */
    recoverLost(worker: string): Effect.Effect<ReadonlyArray<LostDelivery>>
    /** Releases endpoints. Started calls and unwritten outcomes stay with the worker. */
    handOver(worker: string, endpoints: ReadonlyArray<GivenUp>): Effect.Effect<void>
    /** Stops a worker from acquiring endpoints; its calls continue. */
    stop(worker: string): Effect.Effect<void>
    /** Unregisters a worker. */
    leave(worker: string): Effect.Effect<void>
    /**
     * Reads the next events of the logs, and records that calls for them may start. Also returns open events that the worker doesn't have, because the
     * reply to an earlier reading was lost. Skips endpoints of other workers.
     */
    read(worker: string, wanted: ReadonlyArray<Wanted>): Effect.Effect<ReadonlyArray<Delivery>>
    /** Takes due delivery rows: lost ones first, then retries, then replays. */
    takeDue(worker: string, wanted: ReadonlyArray<Wanted>): Effect.Effect<ReadonlyArray<Delivery>>
    /** Releases rows that the worker holds without knowing it, because the reply to `takeDue` was lost. */
    releaseUnknown(
      worker: string,
      endpoints: ReadonlyArray<EndpointId>,
      known: ReadonlyArray<DeliveryId>,
    ): Effect.Effect<void>
    /** Writes progress. If it fails, write the same outcomes of an endpoint together again: those already written count once. */
    write(worker: string, progress: ReadonlyArray<Progress>): Effect.Effect<Written>
    /** Reads when the next row (and the next replay) of these endpoints is due, or of all endpoints of the worker. */
    nextDue(worker: string, endpoints?: ReadonlyArray<EndpointId>): Effect.Effect<ReadonlyArray<NextDue>>
  }
>()("domain/deliveries/DeliveryLeases") {}
