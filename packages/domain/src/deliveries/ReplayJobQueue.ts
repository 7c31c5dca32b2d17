import { Context, type Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, FailureGroupId, ReplayId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import type { DeadLetterFilter } from "./DeadLetterRepository.ts"
import { DEAD_LETTER_REASONS } from "./Delivery.ts"
import type { EndpointUnavailable } from "./EndpointRepository.ts"

export const MAX_REPLAYS_PER_SECOND = 10_000
export const DEFAULT_REPLAYS_PER_SECOND = 100

/** A job that delivers again at a steady rate: dead letters that existed when it was created, or a range of an endpoint's log, delivered or not. */
export const Replay = Schema.Struct({
  id: ReplayId,
  state: Schema.Literals(["running", "finished", "cancelled"]),
  kind: Schema.Literals(["dead_letters", "log"]),
  /** How many dead letters or events were selected when the job was created. */
  total: Schema.Int,
  /** How many it has replayed. At the end, what is missing to `total` was replayed by others, or purged. */
  replayed: Schema.Int,
  /** How many dead letters others replayed before the job reached them. */
  replayedByOthers: Schema.Int,
  /** The conditions for dead letters; null for any. */
  groupId: Schema.NullOr(FailureGroupId),
  status: Schema.NullOr(Schema.Int),
  /** Deliveries a second. */
  rate: Schema.Int,
  endpointId: Schema.NullOr(EndpointId),
  eventType: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.Literals(DEAD_LETTER_REASONS)),
  /** The types of a log's events; null for all. */
  eventTypes: Schema.NullOr(Schema.Array(Schema.String)),
  /** When the deliveries became dead letters, or the events were published. */
  from: Schema.NullOr(Timestamp),
  to: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp),
  cancelledAt: Schema.NullOr(Timestamp),
})
export type Replay = typeof Replay.Type

/** Events of an endpoint's organization. */
export interface LogRange {
  readonly endpointId: EndpointId
  /** Published at or after, and before. */
  readonly from: Timestamp
  readonly to: Timestamp
  /** Default the types that the endpoint receives. */
  readonly eventTypes?: ReadonlyArray<string>
}

export type ReplaySelection =
  | { readonly kind: "dead_letters"; readonly filter: DeadLetterFilter }
  | { readonly kind: "log"; readonly range: LogRange }

export class ReplayNotFound extends DescribedError("ReplayNotFound", "No replay {replayId}.") {}

export class ReplayFinished extends DescribedError(
  "ReplayFinished",
  "The replay {replayId} has finished, with {replayed} replayed; there is nothing to cancel.",
) {}

export class ReplayOverlaps extends DescribedError(
  "ReplayOverlaps",
  "The replay {replayId} is running, and has some of these still to send. Wait until it has ended, or cancel it first.",
) {}

/** Keeps the jobs that replay dead letters and ranges of logs, and carries them out chunk by chunk. */
export class ReplayJobQueue extends Context.Service<
  ReplayJobQueue,
  {
    /** Lets one transaction at a time create a job, so that each sees the jobs that were created before. */
    readonly lock: Effect.Effect<void>
    /** Finds a running job that has not sent some of the selection yet. */
    findOverlapping(selection: ReplaySelection): Effect.Effect<ReplayId | undefined>
    /** Creates a job of what the selection holds now; an empty one has finished at once. */
    create(selection: ReplaySelection, rate: number): Effect.Effect<Replay, EndpointUnavailable>
    find(replayId: ReplayId): Effect.Effect<Replay, ReplayNotFound>
    /** Ends a job where it is; its replayed deliveries stay replayed. To cancel it again changes nothing. */
    cancel(replayId: ReplayId): Effect.Effect<Replay, ReplayNotFound | ReplayFinished>
    /**
     * Carries out the next chunk of the job that has waited longest, all of it or nothing. No job has two chunks under way.
     *
     * Returns the job afterwards; or, when none was due, in how many milliseconds one is, null for none.
     */
    readonly replayNextChunk: Effect.Effect<{ readonly replay: Replay } | { readonly nextInMs: number | null }>
  }
>()("domain/deliveries/ReplayJobQueue") {}
