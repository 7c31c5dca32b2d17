import { Context, type Effect, Schema } from "effect"
import type { EndpointId, ReplayId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { DeadLetterFilter } from "./DeliveryRepository.ts"
import type { EndpointNotFound } from "./EndpointRepository.ts"
import type { Replay } from "./Replay.ts"

/** No replay has this id. */
export class ReplayNotFound extends Schema.TaggedError<ReplayNotFound>()("ReplayNotFound", {
  replayId: Schema.String,
}) {
  override get message(): string {
    return `No replay ${this.replayId}.`
  }
}

/** The replay has finished, so it cannot be cancelled. */
export class ReplayFinished extends Schema.TaggedError<ReplayFinished>()("ReplayFinished", {
  replayId: Schema.String,
  replayed: Schema.Int,
}) {
  override get message(): string {
    return `The replay ${this.replayId} has finished, with ${this.replayed} replayed; there is nothing to cancel.`
  }
}

/** How many deliveries a second a replay may ask for. */
export const MAX_REPLAYS_PER_SECOND = 10_000

/** Events of an endpoint's organization. */
export interface LogRange {
  readonly endpointId: EndpointId
  /** Published at or after, and before. */
  readonly from: Timestamp
  readonly to: Timestamp
  /** Default the types that the endpoint receives. */
  readonly eventTypes?: ReadonlyArray<string>
}

/** Keeps the jobs that replay dead letters and ranges of logs, and carries them out chunk by chunk. */
export class ReplayJobQueue extends Context.Service<
  ReplayJobQueue,
  {
    /** Creates a job of the dead letters that match now; one of none has finished at once. `rate` is 1 to `MAX_REPLAYS_PER_SECOND`. */
    create(filter: DeadLetterFilter, rate: number): Effect.Effect<Replay>
    /** Creates a job of the events that a range of a log holds now, delivered or not; one of none has finished at once. */
    createOfLog(range: LogRange, rate: number): Effect.Effect<Replay, EndpointNotFound>
    /** Counts the events that a job of a range would send. */
    countInLog(range: LogRange): Effect.Effect<number, EndpointNotFound>
    /** Lists jobs, newest first. */
    list(limit: number): Effect.Effect<ReadonlyArray<Replay>>
    find(replayId: ReplayId): Effect.Effect<Replay, ReplayNotFound>
    /** Lets a job end where it is; what it has replayed stays so. Again is as once. */
    cancel(replayId: ReplayId): Effect.Effect<Replay, ReplayNotFound | ReplayFinished>
    /**
     * Carries out the next chunk of the job that has waited longest, all of it or nothing, and never two of one job at once.
     *
     * Returns the job as it stands then; or, when none was due, in how many milliseconds one is, null for none.
     */
    readonly replayNextChunk: Effect.Effect<{ readonly replay: Replay } | { readonly nextInMs: number | null }>
  }
>()("domain/deliveries/ReplayJobQueue") {}
