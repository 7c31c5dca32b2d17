import { DEFAULT_REPLAYS_PER_SECOND, MAX_REPLAYS_PER_SECOND, ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { ReplayId } from "@outreach/domain/Identifier"
import { wholeNumber } from "@outreach/domain/textSchema"
import { describeReplay, followReplay, NOUNS } from "../deliveries/followReplay.ts"
import { formatCount, formatCounted } from "../format.ts"
import { checkBox, field, withDefault } from "./Field.ts"
import { operation } from "./Operation.ts"

export const optionalRate = field(wholeNumber(1, MAX_REPLAYS_PER_SECOND), "Deliveries per second", {
  inputmode: "numeric",
  size: 6,
  hint: `1 to ${formatCount(MAX_REPLAYS_PER_SECOND)}. Use a low rate if the partner has just recovered`,
})

/** The rate of a replay. */
export const rate = withDefault(optionalRate, String(DEFAULT_REPLAYS_PER_SECOND))

export const showReplay = operation("replays show", {
  access: "reads",
  about: "Show a replay: its items and its progress",
  of: { replayId: ReplayId },
  input: { follow: checkBox("Show the progress until it ends; Ctrl-C leaves it running") },
  *run({ replayId, follow }) {
    const job = yield* ReplayJobQueue.use(({ find }) => find(replayId))
    return follow ? yield* followReplay(job) : job
  },
  show: (job, { follow }) => [follow ? describeReplay(job) : { fields: job }],
})

export const cancelReplay = operation("replays cancel", {
  role: "operator",
  forPartners: true,
  about: "Cancel a replay; deliveries that it has replayed aren't recalled",
  label: "Cancel the replay",
  link: "Cancel",
  isIrreversible: true,
  of: { replayId: ReplayId },
  *plan({ replayId }) {
    const job = yield* (yield* ReplayJobQueue).find(replayId)
    const { kind, state, total, replayed, endpointId, groupId } = job
    return {
      title: `Cancel ${replayId}`,
      many: `${formatCount(total - replayed)} of ${formatCounted(total, NOUNS[kind])} not replayed`,
      affects: {
        id: groupId ?? endpointId ?? replayId,
        name: groupId !== null ? "an issue" : endpointId !== null ? "an endpoint" : "all endpoints",
      },
      when: "Immediately. Replayed deliveries aren't recalled.",
      caution: state === "running" ? { because: "The replay can't be resumed." } : undefined,
    }
  },
  run: ({ replayId }) => ReplayJobQueue.use(({ cancel }) => cancel(replayId)),
  show: (job) => [describeReplay(job)],
  done: ({ replayed, total }) => `Cancelled after ${formatCount(replayed)} of ${formatCount(total)}.`,
})
