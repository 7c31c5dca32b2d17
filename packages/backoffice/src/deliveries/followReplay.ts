import { type Replay, ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { Effect } from "effect"
import { formatCounted } from "../format.ts"
import { TaskProgress } from "../TaskProgress.ts"

const POLL_INTERVAL = "500 millis"
/** Time until a worker is probably not running. Workers are notified of new jobs. */
const START_TIMEOUT_MS = 10_000

const NOUNS: Readonly<Record<Replay["kind"], readonly [one: string, many: string]>> = {
  dead_letters: ["dead letter", "dead letters"],
  log: ["event", "events"],
  waiting: ["waiting delivery", "waiting deliveries"],
}

/** Formats a number of a job's items, such as `2 dead letters`. */
export const formatItems = ({ kind }: Pick<Replay, "kind">, count: number): string =>
  formatCounted(count, ...NOUNS[kind])

/** Shows a job's progress until it ends, and returns the ended job. Interrupting this effect doesn't interrupt the job. */
export const followReplay = Effect.fnUntraced(
  function* (job: Replay) {
    const replayJobs = yield* ReplayJobQueue
    const { say, bar } = yield* TaskProgress
    const { advance } = yield* bar("Replaying", job.total)
    yield* advance(job.replayed)
    const since = yield* readMonotonicMs
    let now = job
    let isWorkerMissed = false
    while (now.state === "running") {
      yield* Effect.sleep(POLL_INTERVAL)
      const next = yield* replayJobs.find(job.id)
      yield* advance(next.replayed - now.replayed)
      now = next
      const isLate = (yield* readMonotonicMs) - since > START_TIMEOUT_MS
      if (isLate && !isWorkerMissed && now.replayed === job.replayed) {
        isWorkerMissed = true
        yield* say("Nothing has been replayed for ten seconds; is a worker running?")
      }
    }
    return now
  },
  Effect.scoped,
  (following, { id }) => {
    const text = `\nIt goes on without you. Follow it with \`ops replays show ${id} --follow\`, end it with \`ops replays cancel ${id}\`.`
    return Effect.onInterrupt(following, () => TaskProgress.use(({ say }) => say(text)))
  },
)

export const describeReplay = (job: Replay): string => {
  const { id, kind, state, total, replayed } = job
  const [verb, done] = kind === "waiting" ? ["sends", "Sent"] : ["replays", "Replayed"]
  switch (state) {
    case "running":
      return `${id} ${verb} ${formatItems(job, total)}. Follow it with \`ops replays show ${id} --follow\`.`
    case "finished": {
      const rest = replayed < total ? ` of ${total}; others had ${done.toLowerCase()} or removed the rest` : ""
      return `${done} ${formatItems(job, replayed)}${rest}.`
    }
    case "cancelled":
      return `Cancelled after ${formatItems(job, replayed)} of ${total}; those stay ${done.toLowerCase()}.`
  }
}
