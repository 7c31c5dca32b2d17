import type { Replay } from "@outreach/domain/deliveries/Replay"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { Clock, Effect } from "effect"
import { formatCount } from "../output/formatCount.ts"
import { print, remark } from "../output/Output.ts"
import { progressBar } from "../output/progressBar.ts"

const LOOK_EVERY = "500 millis"
/** Workers look for new jobs once a second. */
const BEGINS_WITHIN_MS = 10_000

/** Shows how far a job has come until it is over, and answers it then; interrupting this does not interrupt the job. */
export const followReplay = Effect.fnUntraced(
  function* (job: Replay) {
    const replayJobs = yield* ReplayJobQueue
    const bar = yield* progressBar("Replaying", job.total, { quiet: false })
    yield* bar.advance(job.replayed)
    const since = yield* Clock.currentTimeMillis
    let now = job
    let isWorkerMissed = false
    while (now.state === "running") {
      yield* Effect.sleep(LOOK_EVERY)
      const next = yield* replayJobs.find(job.id)
      yield* bar.advance(next.replayed - now.replayed)
      now = next
      if (
        !isWorkerMissed &&
        now.replayed === job.replayed &&
        (yield* Clock.currentTimeMillis) - since > BEGINS_WITHIN_MS
      ) {
        isWorkerMissed = true
        yield* remark("Nothing has been replayed for ten seconds; is a worker running?")
      }
    }
    return now
  },
  Effect.scoped,
  (following, { id }) =>
    Effect.onInterrupt(following, () =>
      remark(
        `\nIt goes on without you. Follow it with \`ops replays follow ${id}\`, end it with \`ops replays cancel ${id}\`.`,
      ),
    ),
)

/** Prints a job once it has ended, or at once when `detach` is set; `sentence` tells people what is waited for. */
export const printWhenEnded = Effect.fnUntraced(function* (
  job: Replay,
  { detach, sentence }: { readonly detach: boolean; readonly sentence: string },
) {
  if (detach || job.state !== "running") return yield* printReplay(job)
  yield* remark(sentence)
  yield* printReplay(yield* followReplay(job))
})

/** Prints a job, with one sentence for people. */
export const printReplay = (job: Replay) => print(job, () => describe(job))

/** The words for what a job replays. */
export const NOUNS = { dead_letters: "dead letter", log: "event" } as const satisfies Record<Replay["kind"], string>

const describe = ({ id, kind, state, total, replayed }: Replay): string => {
  switch (state) {
    case "running":
      return `${id} replays ${formatCount(total, NOUNS[kind])}. Follow it with \`ops replays follow ${id}\`.`
    case "finished":
      return `Replayed ${formatCount(replayed, NOUNS[kind])}${replayed < total ? ` of ${total}; the others were replayed or purged meanwhile` : ""}.`
    case "cancelled":
      return `Cancelled after ${formatCount(replayed, NOUNS[kind])} of ${total}; those stay replayed.`
  }
}
