import { Context, Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, FailureGroupId, ReplayId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import { inTransaction } from "../Transaction.ts"
import type { DeadLetterFilter } from "./DeadLetters.ts"
import { DEAD_LETTER_REASONS } from "./Delivery.ts"
import type { EndpointUnavailable } from "./Endpoint.ts"

export const MAX_REPLAYS_PER_SECOND = 10_000
export const DEFAULT_REPLAYS_PER_SECOND = 100

/**
 * A job that sends at a steady rate: dead letters that existed when it was created, a range of an endpoint's log, delivered or not, or an endpoint's
 * deliveries that waited for their next attempt. Those aren't replayed: they make that attempt now.
 */
export const Replay = Schema.Struct({
  id: ReplayId,
  state: Schema.Literals(["running", "finished", "cancelled"]),
  kind: Schema.Literals(["dead_letters", "log", "waiting"]),
  /** Number of dead letters, events or deliveries selected when the job was created. */
  total: Schema.Int,
  /** Number of replayed ones. At the end, the difference to `total` was replayed or sent elsewhere, or purged. */
  replayed: Schema.Int,
  /** Conditions for dead letters; null for any. Waiting deliveries can have the failure group of their last attempt. */
  groupId: Schema.NullOr(FailureGroupId),
  status: Schema.NullOr(Schema.Int),
  /** Deliveries per second. */
  rate: Schema.Int,
  endpointId: Schema.NullOr(EndpointId),
  eventType: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.Literals(DEAD_LETTER_REASONS)),
  /** Event types of a log range; null for all. */
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
  /** Default: the endpoint's event types. */
  readonly eventTypes?: ReadonlyArray<string>
}

/** Deliveries of an endpoint that wait for their next attempt after a failure, or only those of a failure group. */
export interface WaitingDeliveries {
  readonly endpointId: EndpointId
  readonly groupId?: FailureGroupId | undefined
}

export type ReplaySelection =
  | { readonly kind: "dead_letters"; readonly filter: DeadLetterFilter }
  | { readonly kind: "log"; readonly range: LogRange }
  | { readonly kind: "waiting"; readonly waiting: WaitingDeliveries }

export class ReplayNotFound extends DescribedError("ReplayNotFound", "No replay {replayId}.") {}

export class ReplayFinished extends DescribedError(
  "ReplayFinished",
  "The replay {replayId} has finished, with {replayed} replayed; there is nothing to cancel.",
) {}

export class ReplayOverlaps extends DescribedError(
  "ReplayOverlaps",
  "The replay {replayId} is running, and has some of these still to send. Wait until it has ended, or cancel it first.",
) {}

/** Stores replay jobs, and executes them in chunks. */
export class ReplayJobQueue extends Context.Service<
  ReplayJobQueue,
  {
    /** Serializes transactions that create jobs, so that each sees the earlier jobs. */
    readonly lock: Effect.Effect<void>
    /** Finds a running job that hasn't sent part of the selection yet. */
    findOverlapping(selection: ReplaySelection): Effect.Effect<ReplayId | undefined>
    /** Creates a job for the current selection; an empty one is finished immediately. */
    create(selection: ReplaySelection, rate: number): Effect.Effect<Replay, EndpointUnavailable>
    find(replayId: ReplayId): Effect.Effect<Replay, ReplayNotFound>
    /** Cancels a job; its replayed deliveries stay replayed. Idempotent. */
    cancel(replayId: ReplayId): Effect.Effect<Replay, ReplayNotFound | ReplayFinished>
    /**
     * Executes the next chunk of the job that has waited longest, atomically. A job has at most one chunk in progress.
     *
     * Returns the job afterwards; if none was due, the milliseconds until the next, null for none.
     */
    readonly replayNextChunk: Effect.Effect<{ readonly replay: Replay } | { readonly nextInMs: number | null }>
  }
>()("domain/deliveries/ReplayJobQueue") {}

/** Creates a job, unless a running one overlaps. `rate` is 1 to `MAX_REPLAYS_PER_SECOND`. */
export const createReplay = Effect.fn("Replays.createReplay")(function* (selection: ReplaySelection, rate: number) {
  const jobs = yield* ReplayJobQueue
  yield* jobs.lock
  const replayId = yield* jobs.findOverlapping(selection)
  if (replayId !== undefined) return yield* new ReplayOverlaps({ replayId })
  return yield* jobs.create(selection, rate)
}, inTransaction)

export const createDeadLetterReplay = (filter: DeadLetterFilter, rate: number) =>
  Effect.catchTags(createReplay({ kind: "dead_letters", filter }, rate), {
    EndpointNotFound: Effect.die,
    EndpointRemoved: Effect.die,
  })

export const createLogReplay = (range: LogRange, rate: number) => createReplay({ kind: "log", range }, rate)
