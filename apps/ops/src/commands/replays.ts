import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCounted } from "@outreach/backoffice/format"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { ReplayId } from "@outreach/domain/Identifier"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Layer } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { followReplay, formatReplay, NOUNS } from "../deadLetters/followReplay.ts"
import { MAX_ROWS } from "../inputs/filters.ts"
import { argument, onlySwitch } from "../inputs/Input.ts"
import { confirm, print, yes } from "../output/Output.ts"

const replayId = argument(ReplayId, "The replay's id, rpl_…")

const list = reading({
  about: "List the replays, newest first",
  run: () => ReplayReader.use(({ list }) => list(MAX_ROWS)),
  columns: ["id", "kind", "state", "total", "replayed", "replayedByOthers", "rate", "createdAt"],
})

const show = reading({
  about: "Show a replay: its items and its progress",
  examples: ["ops replays show rpl_…", "ops replays show rpl_… --follow"],
  input: { replayId, follow: onlySwitch("Show the progress until it ends; Ctrl-C leaves it running") },
  *run({ replayId, follow }) {
    const job = yield* ReplayJobQueue.use(({ find }) => find(replayId))
    if (!follow) return job
    const ended = yield* followReplay(job)
    return yield* print(ended, () => formatReplay(ended))
  },
})

const cancel = changing({
  about: "Stop a replay; what it has replayed stays replayed. Requires confirmation or --yes",
  input: { replayId, yes },
  *run({ replayId, yes }) {
    const replayJobs = yield* ReplayJobQueue
    const { kind, state, total, replayed, replayedByOthers } = yield* replayJobs.find(replayId)
    const count = total - replayed - replayedByOthers
    yield* confirm(
      `cancel replay ${replayId} for good, which leaves ${formatCounted(count, NOUNS[kind])} of ${total}`,
      {
        yes: yes || state !== "running",
        count,
      },
    )
    return yield* replayJobs.cancel(replayId)
  },
  format: (job) => formatReplay(job),
})

export const replays = group({
  about: "Dead letters and events that the workers deliver again",
  commands: { list, show, cancel },
  services: Layer.merge(ReplayJobQueuePg, ReplayReader.layer),
})
