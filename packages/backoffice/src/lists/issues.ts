import { FailureGroupId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { FailureGroupReader, issueFilters } from "../deliveries/FailureGroupReader.ts"
import { count, InvalidAfter, id, inOps, list, text, time } from "./List.ts"

export const issues = list("issues list", {
  forPartners: true,
  about:
    "List the causes of failing calls and dead letters, with the number of failed calls and their share; latest failure first",
  filters: issueFilters,
  cursor: { lastAt: Timestamp, id: FailureGroupId },
  *read(filter, { limit, after }) {
    if (filter.largest && after !== null) return yield* new InvalidAfter()
    return yield* FailureGroupReader.use(({ list }) => list(filter, filter.largest ? limit : limit + 1, after))
  },
  columns: {
    id: inOps,
    endpointId: inOps,
    cause: { ...text("Cause"), of: ({ id }) => id },
    failures: count("Failed calls"),
    share: text("Share of calls"),
    openedAt: time("Since"),
    lastAt: time("Last failure"),
    closedAt: time("Ended"),
    open: count("Dead letters"),
    endpoint: { ...id("Endpoint"), isOfConsole: true, value: ({ endpointId }) => endpointId },
  },
  empty: "No issues.",
})
