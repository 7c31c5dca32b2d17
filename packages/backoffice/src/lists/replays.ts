import type { Replay } from "@outreach/domain/deliveries/Replays"
import { ReplayId } from "@outreach/domain/Identifier"
import { ReplayReader } from "../deliveries/ReplayReader.ts"
import { formatDuration } from "../format.ts"
import { filterBy } from "../operations/Field.ts"
import { badge, count, id, inOps, list, text, time } from "./List.ts"

export const replays = list("replays list", {
  forPartners: true,
  about: "List the replays, newest first",
  filters: { organizationId: filterBy.organization },
  cursor: { id: ReplayId },
  read: (filter, { limit, after }) => ReplayReader.use(({ list }) => list(filter, limit + 1, after)),
  columns: {
    id: id("Replay"),
    kind: inOps,
    state: badge("State", { running: "warning", finished: "good" }),
    selection: { ...text("Selection"), isOfConsole: true, value: (job) => describeSelection(job) },
    groupId: { ...id("Issue"), isOfConsole: true },
    endpointId: { ...id("Endpoint"), isOfConsole: true },
    total: inOps,
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
  empty: "No replays yet.",
})

const describeSelection = ({ kind, reason, status, eventType, eventTypes }: Replay): string => {
  const conditions = [reason, status, eventType, eventTypes?.join(", ")].filter((each) => each != null)
  const items = kind === "log" ? "events of the log" : "dead letters"
  return conditions.length === 0 ? items : `${items}: ${conditions.join(", ")}`
}
