import {
  DEFAULT_REPLAYS_PER_SECOND,
  MAX_REPLAYS_PER_SECOND,
  type Replay,
  ReplayJobQueue,
} from "@outreach/domain/deliveries/Replays"
import { ReplayId } from "@outreach/domain/Identifier"
import { wholeNumber } from "@outreach/domain/textSchema"
import { describeReplay, followReplay, formatItems } from "../deliveries/followReplay.ts"
import { ReplayReader } from "../deliveries/ReplayReader.ts"
import { formatCount, formatDuration } from "../format.ts"
import { checkBox, field, filterBy, withDefault } from "./Field.ts"
import { badge, count, id, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

export const replays = list("replays list", {
  forPartners: true,
  about: "List the replays, newest first",
  filters: { organizationId: filterBy.organization },
  cursor: { id: ReplayId },
  read: (filter, { limit, after }) => ReplayReader.use(({ list }) => list(filter, limit + 1, after)),
  columns: {
    id: id("Replay"),
    ...inOps("kind"),
    state: badge("State", { running: "warning", finished: "good" }),
    selection: { ...text("Selection"), isOfConsole: true, value: (job) => describeSelection(job) },
    groupId: { ...id("Issue"), isOfConsole: true },
    endpointId: { ...id("Endpoint"), isOfConsole: true },
    ...inOps("total"),
    replayed: count("Replayed"),
    rate: count("Per second"),
    timeLeft: {
      ...text("Time left"),
      isOfConsole: true,
      value: ({ state, total, replayed, rate }) =>
        state === "running" ? formatDuration((total - replayed) / rate) : null,
    },
    createdAt: time("Created"),
  },
  empty: "No replays. Start one on the page of an issue or an endpoint.",
  filledBy: null,
})

const describeSelection = ({ kind, reason, status, eventType, eventTypes }: Replay): string => {
  const conditions = [reason, status, eventType, eventTypes?.join(", ")].filter((each) => each != null)
  const items = { dead_letters: "dead letters", log: "events of the log", waiting: "waiting deliveries" }[kind]
  return conditions.length === 0 ? items : `${items}: ${conditions.join(", ")}`
}

export const optionalRate = field(wholeNumber(1, MAX_REPLAYS_PER_SECOND), "Deliveries per second", {
  inputmode: "numeric",
  size: 6,
  hint: `1 to ${formatCount(MAX_REPLAYS_PER_SECOND)}. Use a low rate if the endpoint has just recovered`,
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
    const { state, total, replayed, endpointId, groupId } = job
    return {
      title: `Cancel ${replayId}`,
      many: `${formatCount(total - replayed)} of ${formatItems(job, total)} not replayed`,
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
