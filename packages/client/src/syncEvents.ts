import type { List } from "@outreach/contract/types"
import { ApiError } from "./ApiError.ts"
import type { FeedEvent } from "./FeedEvent.ts"
import type { Sleep } from "./sleep.ts"

/** Progress of a reconciliation: JSON to store with the events and to pass in after a restart. */
export interface Checkpoint {
  /** Start of the next pass: the emission time of the latest event, minus the overlap. */
  readonly since: string
  /** Ids and emission times of events since `since` that were already yielded. */
  readonly seen?: Readonly<Record<string, string>>
}

/** New events, and the checkpoint to store with them. */
export interface EventBatch {
  readonly events: readonly FeedEvent[]
  readonly checkpoint: Checkpoint
}

export interface Reconciliation {
  readonly checkpoint: Checkpoint
  readonly everySeconds: number | null
  readonly overlapSeconds: number
  readonly signal: AbortSignal | undefined
  readonly sleep: Sleep
  readonly read: (place: { readonly since: string; readonly cursor: string | undefined }) => Promise<List<FeedEvent>>
}

/** Reads the feed from the checkpoint to its end, and again after each pause. */
export async function* syncEvents(work: Reconciliation): AsyncGenerator<EventBatch, void, void> {
  let { checkpoint } = work
  for (;;) {
    checkpoint = yield* walk(work, checkpoint)
    if (work.everySeconds === null) return
    await work.sleep(work.everySeconds * 1000, work.signal)
  }
}

async function* walk(
  { read, overlapSeconds }: Reconciliation,
  start: Checkpoint,
): AsyncGenerator<EventBatch, Checkpoint, void> {
  let checkpoint = start
  let place: { readonly since: string; readonly cursor: string | undefined } = { since: start.since, cursor: undefined }
  let restartedFrom: Checkpoint | undefined
  for (;;) {
    let page: List<FeedEvent>
    try {
      page = await read(place)
    } catch (error) {
      // The service rejects the cursor, for example after a key change: restart from the checkpoint, but not twice without progress.
      if (!isCursorRefused(error) || place.cursor === undefined || restartedFrom === checkpoint) throw error
      restartedFrom = checkpoint
      place = { since: checkpoint.since, cursor: undefined }
      continue
    }
    const { seen = {} } = checkpoint
    const events = page.data.filter(({ event_id }) => !Object.hasOwn(seen, event_id))
    if (events.length > 0) {
      checkpoint = advance(checkpoint, events, overlapSeconds)
      yield { events, checkpoint }
    }
    if (page.next_cursor === null) return checkpoint
    place = { since: place.since, cursor: page.next_cursor }
  }
}

/** Advances a checkpoint past events. It never moves back. */
function advance(checkpoint: Checkpoint, events: readonly FeedEvent[], overlapSeconds: number): Checkpoint {
  const candidate = secondsBefore(events.at(-1)!.emitted_at, overlapSeconds)
  const since = Date.parse(candidate) > Date.parse(checkpoint.since) ? candidate : checkpoint.since
  const known = [
    ...Object.entries(checkpoint.seen ?? {}),
    ...events.map(({ event_id, emitted_at }) => [event_id, emitted_at] as const),
  ]
  // Compares milliseconds, which may keep a few ids more than necessary, but never too few.
  return { since, seen: Object.fromEntries(known.filter(([, at]) => Date.parse(at) >= Date.parse(since))) }
}

// A Date has only milliseconds, so the fraction is kept as text.
function secondsBefore(timestamp: string, seconds: number): string {
  const whole = new Date(Date.parse(`${timestamp.slice(0, 19)}Z`) - seconds * 1000)
  return whole.toISOString().slice(0, 19) + timestamp.slice(19)
}

function isCursorRefused(error: unknown): boolean {
  return error instanceof ApiError && error.code === "INVALID_PARAMETER" && error.details?.["parameter"] === "cursor"
}
