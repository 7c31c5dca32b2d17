import { formatCounted } from "@outreach/backoffice/format"
import { NOUNS } from "@outreach/backoffice/operations/replays"
import { type Replay, ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { Clock, Effect } from "effect"
import { print, printProgress, printToStderr } from "../output/Output.ts"

const POLL_INTERVAL = "500 millis"
/** Time until a worker is probably not running. Workers check for new jobs once a second. */
const START_TIMEOUT_MS = 10_000

/** Shows a job's progress until it ends, and returns the ended job. Interrupting this effect doesn't interrupt the job. */
export const followReplay = Effect.fnUntraced(
  function* (job: Replay) {
    const replayJobs = yield* ReplayJobQueue
    const bar = yield* printProgress("Replaying", job.total)
    yield* bar.advance(doneOf(job))
    const since = yield* Clock.currentTimeMillis
    let now = job
    let isWorkerMissed = false
    while (now.state === "running") {
      yield* Effect.sleep(POLL_INTERVAL)
      const next = yield* replayJobs.find(job.id)
      yield* bar.advance(doneOf(next) - doneOf(now))
      now = next
      if (
        !isWorkerMissed &&
        now.replayed === job.replayed &&
        (yield* Clock.currentTimeMillis) - since > START_TIMEOUT_MS
      ) {
        isWorkerMissed = true
        yield* printToStderr("Nothing has been replayed for ten seconds; is a worker running?")
      }
    }
    return now
  },
  Effect.scoped,
  (following, { id }) =>
    Effect.onInterrupt(following, () =>
      printToStderr(
        `\nIt goes on without you. Follow it with \`ops replays show ${id} --follow\`, end it with \`ops replays cancel ${id}\`.`,
      ),
    ),
)

const doneOf = ({ replayed, replayedByOthers }: Replay): number => replayed + replayedByOthers

/** Prints a job at its end, or immediately if `detach` is set. */
export const printWhenEnded = Effect.fnUntraced(function* (
  job: Replay,
  { detach, started }: { readonly detach: boolean; readonly started: string },
) {
  const isRunning = job.state === "running"
  if (isRunning) yield* printToStderr(started)
  const latest = isRunning && !detach ? { ...job, ...(yield* followReplay(job)) } : job
  yield* print(latest, () => formatReplay(latest))
})

/** Formats a job as one sentence. */
export const formatReplay = ({ id, kind, state, total, replayed, replayedByOthers }: Replay): string => {
  switch (state) {
    case "running":
      return `${id} replays ${formatCounted(total, NOUNS[kind])}. Follow it with \`ops replays show ${id} --follow\`.`
    case "finished": {
      const removed = total - replayed - replayedByOthers
      const notes = [
        ...(replayed < total ? [` of ${total}`] : []),
        ...(replayedByOthers > 0 ? [`; others had replayed ${replayedByOthers} already`] : []),
        ...(removed > 0 ? [`; ${removed} had been removed`] : []),
      ]
      return `Replayed ${formatCounted(replayed, NOUNS[kind])}${notes.join("")}.`
    }
    case "cancelled":
      return `Cancelled after ${formatCounted(replayed, NOUNS[kind])} of ${total}; those stay replayed.`
  }
}
